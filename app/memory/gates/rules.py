"""The rules of a gate, one function each. Pure: they can be replayed on recorded candidates."""

from __future__ import annotations

import re
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

# A memory that shares half of the question's words may be a little less near than the floor.
LEXICAL_COVERAGE: Final = 0.5
LEXICAL_SLACK: Final = 0.5
# Below the largest drop in relevance lies another subject, if the drop is that large (M16) ...
GAP: Final = 0.2
# ... but a question may touch several memories unequally: the first few are never cut (fault 28).
ALWAYS_KEPT: Final = 3
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


def relevant(candidate: Candidate, floor: float) -> bool:
    """Relevance admits; rank never does (M16). Pinned and cued memories are always candidates."""
    scores = candidate.scores
    if candidate.memory.fact.pinned or scores.get("cue"):
        return True
    cosine = scores.get("cosine", 0.0)
    covered = scores.get("coverage", 0.0) >= LEXICAL_COVERAGE
    return cosine >= floor or (covered and cosine >= floor * LEXICAL_SLACK)


def ranked(candidate: Candidate, now: datetime, settings: GateSettings) -> Candidate:
    """The candidate with its `order`: the fused score, and for episodes a part that age halves."""
    memory, scores = candidate.memory, candidate.scores
    weights = settings.weights
    order = scores.get("fused", 0.0) + weights.importance * memory.fact.importance
    order += weights.named * scores.get("named", 0.0)
    if memory.fact.type is MemoryType.EPISODIC:
        aged = 0.5 ** max((now - memory.times.valid_from) / settings.half_life, 0.0)
        order *= 1 - weights.recency * (1 - aged)
    return Candidate(memory, {**scores, "order": order + PINNED_FIRST * memory.fact.pinned})


def in_order(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Best first; the id decides between equals, so that the same call reads the same."""
    return sorted(candidates, key=_order, reverse=True)


def _order(candidate: Candidate) -> tuple[float, int]:
    scores = candidate.scores
    return scores.get("order", scores.get("fused", 0.0)), candidate.memory.id.int


def cut_at_gap(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Drop what lies behind the largest drop in relevance, if that is large."""
    measured = [c for c in candidates if not (c.memory.fact.pinned or c.scores.get("cue"))]
    drops = [
        (above.scores.get("cosine", 0.0) - below.scores.get("cosine", 0.0), place)
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
