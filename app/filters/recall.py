"""What is remembered: everything that may matter for this turn, with its evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from app.domain import Candidate, State, Where
from app.filters.policy import without
from app.filters.replay import settled, shown
from app.memory.cues import cues
from app.memory.query import build_query, is_about, is_small_talk, names

if TYPE_CHECKING:
    from app.domain import Exchange, Owner
    from app.ports import Embed, Store

ACTIVE: Final = Where(states=frozenset({State.ACTIVE}))
PINNED: Final = Where(pinned=True)
# So relevant that its words need not be counted.
CLEAR: Final = 0.5


class Recall:
    """Searches the owner's memories for the turn, in both indexes at once."""

    def __init__(self, candidates: Candidates, *, limit: int) -> None:
        self._candidates = candidates
        self._limit = limit

    async def __call__(self, exchange: Exchange) -> Exchange:
        owner, call = exchange.owner, exchange.call
        if owner is None or call is None or not exchange.policy.read or settled(exchange):
            return exchange
        if is_small_talk(call.query):
            policy = without(exchange.policy, read=True, write=False, reason="small_talk")
            return replace(exchange, policy=policy)
        known = {key for block in shown(call) for key in block.ids}
        limit = self._limit + len(known)
        found = await self._candidates(owner, build_query(call), call.query, limit)
        new = (candidate for candidate in found if candidate.memory.id not in known)
        return replace(exchange, candidates=tuple(new))


class Candidates:
    """What may matter for a question, with its evidence."""

    def __init__(self, store: Store, embed: Embed) -> None:
        self._store = store
        self._embed = embed

    async def __call__(self, owner: Owner, query: str, said: str, limit: int) -> list[Candidate]:
        """By meaning and by words; pinned ones (M18); and what the question's words lean on.

        `query` is searched for; `said` is the user's turn alone.
        """
        vectors = await self._embed.query(query)
        slots, people = cues(said), names(said)
        also = [PINNED, Where(slots=slots)] if slots else [PINNED]
        found = await self._store.search(owner, vectors, ACTIVE, limit, also=also)
        words = frozenset(vectors.sparse.indices)
        marked = (self._with_evidence(c, words, slots) for c in found)
        return [_named(c, people) for c in marked] if people else list(marked)

    def _with_evidence(
        self, candidate: Candidate, words: frozenset[int], slots: frozenset[str]
    ) -> Candidate:
        """With the share of the question's words that it holds, and whether its slot is cued."""
        fact, scores = candidate.memory.fact, dict(candidate.scores)
        if words and scores["bm25"] and scores["relevance"] < CLEAR:
            shared = words.intersection(self._embed.words(fact.content))
            scores["coverage"] = len(shared) / len(words)
        if fact.slot in slots:
            scores["cue"] = 1.0
        return Candidate(candidate.memory, scores)


def _named(candidate: Candidate, people: frozenset[str]) -> Candidate:
    """With a mark if it is about somebody whom the question names."""
    if not is_about(candidate.memory.fact.content, people):
        return candidate
    return Candidate(candidate.memory, {**candidate.scores, "named": 1.0})
