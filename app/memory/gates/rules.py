"""The rules of a gate, one function each. Pure: they can be replayed on recorded candidates."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from app.domain import Candidate, MemoryType, State
from app.memory.fusion import Weights
from app.memory.similar import near_copies, telling, words_of
from app.memory.slots import is_single

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from app.domain import Memory

# A memory that shares half of the question's words may be a little less relevant than the floor.
LEXICAL_COVERAGE: Final = 0.5
LEXICAL_SLACK: Final = 0.75
# Below the largest drop in relevance lies another subject, if the drop is that large (M16) ...
GAP: Final = 0.2
# ... but a question may touch several memories unequally: the first few are never cut (fault 28).
ALWAYS_KEPT: Final = 3
# Beside a fact that answers, one that is half as relevant only shares its subject. An excerpt does
# not set the measure: that of the same question, asked before, would shut out the answer.
SHARE_OF_BEST: Final = 0.5
# More than any evidence weighs.
PINNED_FIRST: Final = 100.0


@dataclass(frozen=True, slots=True)
class GateSettings:
    """What every gate is built with: a token counter, the model's floor, the operator's rules."""

    count: Callable[[str], int]
    floor: float
    half_life: timedelta = timedelta(days=90)
    weights: Weights = field(default_factory=Weights)
    block: tuple[re.Pattern[str], ...] = ()


def eligible(memory: Memory, now: datetime) -> bool:
    """Active, and true at this time."""
    ends = memory.times.valid_to
    return memory.state is State.ACTIVE and (ends is None or ends > now)


def blocked(memory: Memory, patterns: Sequence[re.Pattern[str]]) -> bool:
    """Whether the operator's patterns keep it out."""
    return any(pattern.search(memory.fact.content) for pattern in patterns)


def relevant(candidates: Sequence[Candidate], floor: float) -> list[Candidate]:
    """Relevance admits; rank never does (M16). Pinned and cued memories are always candidates."""
    facts = (c for c in candidates if _is_measured(c) and not _is_episode(c))
    best = SHARE_OF_BEST * max(map(_relevance, facts), default=0.0)
    return [
        c
        for c in candidates
        if not _is_measured(c) or (_reaches(c, floor) and (_is_episode(c) or _relevance(c) >= best))
    ]


def _is_measured(candidate: Candidate) -> bool:
    return not (candidate.memory.fact.pinned or candidate.scores.get("cue"))


def _is_episode(candidate: Candidate) -> bool:
    return candidate.memory.fact.type is MemoryType.EPISODIC


def _relevance(candidate: Candidate) -> float:
    return candidate.scores.get("relevance", 0.0)


def _reaches(candidate: Candidate, floor: float) -> bool:
    covered = candidate.scores.get("coverage", 0.0) >= LEXICAL_COVERAGE
    return _relevance(candidate) >= (floor * LEXICAL_SLACK if covered else floor)


def ranked(
    candidates: Sequence[Candidate], now: datetime, settings: GateSettings
) -> list[Candidate]:
    """Best first, each with its `order`: its worth, and a part of its conversation's best."""
    worth = [(c, _worth(c, now, settings)) for c in candidates]
    best: dict[str | None, float] = defaultdict(float)
    for c, value in worth:
        best[_session(c)] = max(best[_session(c)], value)
    best[None] = 0.0
    return in_order(
        Candidate(c.memory, {**c.scores, "order": value + share + _first(c)})
        for c, value in worth
        for share in (settings.weights.session * best[_session(c)],)
    )


def _worth(candidate: Candidate, now: datetime, settings: GateSettings) -> float:
    """The fused score with what the gate knows, and for episodes a part that age halves."""
    memory, scores, weights = candidate.memory, candidate.scores, settings.weights
    worth = scores.get("fused", 0.0) + weights.importance * memory.fact.importance
    worth += weights.named * scores.get("named", 0.0)
    if _is_episode(candidate):
        aged = 0.5 ** max((now - memory.times.valid_from) / settings.half_life, 0.0)
        worth *= 1 - weights.recency * (1 - aged)
    return worth


def _session(candidate: Candidate) -> str | None:
    return candidate.memory.origin.conversation_id if _is_episode(candidate) else None


def _first(candidate: Candidate) -> float:
    return PINNED_FIRST * candidate.memory.fact.pinned


def in_order(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Best first; the id decides between equals, so that the same call reads the same."""
    return sorted(candidates, key=_order, reverse=True)


def _order(candidate: Candidate) -> tuple[float, int]:
    scores = candidate.scores
    return scores.get("order", scores.get("fused", 0.0)), candidate.memory.id.int


def cut_at_gap(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Drop what lies behind the largest drop in relevance, if that is large."""
    measured = [c for c in candidates if _is_measured(c)]
    drops = [
        (_relevance(above) - _relevance(below), place)
        for place, (above, below) in enumerate(pairwise(measured), 1)
        if place >= ALWAYS_KEPT
    ]
    drop, place = max(drops, default=(0.0, 0))
    if drop < GAP:
        return list(candidates)
    beyond = {c.memory.id for c in measured[place:]}
    return [c for c in candidates if c.memory.id not in beyond]


def without_duplicates(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """The first of each group of near-copies, as they are asked for."""
    alike: dict[frozenset[str], list[frozenset[str]]] = {}
    for candidate in candidates:
        words = words_of(candidate.memory.fact.content)
        # Other numbers, another statement: only those with the same ones need comparing.
        seen = alike.setdefault(telling(words), [])
        if not any(near_copies(words, other) for other in seen):
            seen.append(words)
            yield candidate


def newest_per_slot(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Of several values of a slot that holds one, the one that was said last.

    Not the one that is true since later: "I started last week" ends what was said before it.
    """
    newest: dict[tuple[str, str], Candidate] = {}
    for candidate in candidates:
        if (key := _slot_key(candidate)) is not None:
            known = newest.setdefault(key, candidate)
            if candidate.memory.times.created_at > known.memory.times.created_at:
                newest[key] = candidate
    winners = {candidate.memory.id for candidate in newest.values()}
    return [c for c in candidates if _slot_key(c) is None or c.memory.id in winners]


def _slot_key(candidate: Candidate) -> tuple[str, str] | None:
    slot = candidate.memory.fact.slot
    return (candidate.memory.pool, slot) if slot and is_single(slot) else None
