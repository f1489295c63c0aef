"""What is remembered: everything that may matter for this turn, with its evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from app.domain import Candidate, State, Where
from app.filters.policy import without
from app.memory.cues import cues
from app.memory.fusion import fuse
from app.memory.query import build_query, is_small_talk

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from app.domain import Call, Exchange, Memory, Owner
    from app.ports import Embed, Store

ACTIVE: Final = frozenset({State.ACTIVE})
# A bounded core: who this is, how to answer (M18).
MAX_PINNED: Final = 20
MAX_CUED: Final = 10


class Recall:
    """Searches the owner's memories for the turn, in both indexes at once."""

    def __init__(self, store: Store, embed: Embed, *, limit: int) -> None:
        self._store = store
        self._embed = embed
        self._limit = limit

    async def __call__(self, exchange: Exchange) -> Exchange:
        owner, call = exchange.owner, exchange.call
        if owner is None or call is None or not exchange.policy.read:
            return exchange
        if is_small_talk(call.query):
            policy = without(exchange.policy, read=True, write=False, reason="small_talk")
            return replace(exchange, policy=policy)
        return replace(exchange, candidates=fuse(await self.candidates(owner, call)))

    async def candidates(self, owner: Owner, call: Call) -> list[Candidate]:
        """By meaning and by words; pinned ones; and what the question's words lean on."""
        vectors = await self._embed.query(build_query(call))
        found = await self._store.search(owner, vectors, Where(states=ACTIVE), self._limit)
        words = frozenset(vectors.sparse.indices)
        by_id = {c.memory.id: self._with_coverage(c, words) for c in found}
        pinned = await self._store.find(owner, Where(states=ACTIVE, pinned=True), limit=MAX_PINNED)
        _add(by_id, pinned.memories, "pinned")
        if slots := cues(call.query):
            cued = await self._store.find(owner, Where(states=ACTIVE, slots=slots), limit=MAX_CUED)
            _add(by_id, cued.memories, "cue")
        return list(by_id.values())

    def _with_coverage(self, candidate: Candidate, words: frozenset[int]) -> Candidate:
        if not words or not candidate.scores.get("bm25"):
            return candidate
        shared = words.intersection(self._embed.words(candidate.memory.fact.content))
        return replace(candidate, scores={**candidate.scores, "coverage": len(shared) / len(words)})


def _add(by_id: dict[UUID, Candidate], memories: Iterable[Memory], evidence: str) -> None:
    for memory in memories:
        known = by_id.get(memory.id, Candidate(memory, {}))
        by_id[memory.id] = replace(known, scores={**known.scores, evidence: 1.0})
