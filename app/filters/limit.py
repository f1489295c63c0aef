"""What is learned of a turn, within the caps of the person and of the project (M34)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from app.domain import MemoryType, Pool
from app.filters.reconcile import pool_of
from app.memory.guard import most_important
from app.metrics import BLOCKED

if TYPE_CHECKING:
    from app.domain import Learned, Turn
    from app.memory.quota import Quota

TOO_MANY_TODAY: Final = "too_many_today"
FULL: Final = "memory_full"


class Limit:
    """Keeps the most important facts that there is room for.

    A turn of which no fact may be kept leaves no excerpt either: it would have holes for the facts,
    and would hide in its receipt that the turn was blocked.
    """

    def __init__(self, quota: Quota) -> None:
        self._quota = quota

    async def __call__(self, turn: Turn) -> Turn:
        kept: list[Learned] = []
        blocked: set[str] = set()
        for pool in Pool:
            new = (item for item in turn.learned if not item.withdraws)
            items = [item for item in new if pool_of(turn, item) is pool]
            fitting, missed = await self._fitting(turn, pool, items)
            kept += fitting
            blocked |= missed
        if blocked and not any(map(_is_fact, kept)):
            kept = []
        for kind in blocked:
            BLOCKED.labels(kind).inc()
        # Taking something back needs no room.
        kept += [item for item in turn.learned if item.withdraws]
        ordered = tuple(item for item in turn.learned if any(item is one for one in kept))
        outcome = turn.outcome
        kinds = tuple(sorted({*outcome.blocked, *blocked}))
        return replace(turn, learned=ordered, outcome=replace(outcome, blocked=kinds))

    async def _fitting(
        self, turn: Turn, pool: Pool, items: list[Learned]
    ) -> tuple[list[Learned], set[str]]:
        kinds: set[str] = set()
        if facts := [item for item in items if _is_fact(item)]:
            allowed = await self._quota.facts(turn.owner, pool, len(facts), turn.at)
            if allowed < len(facts):
                kinds.add(TOO_MANY_TODAY)
                facts = most_important(facts, allowed)
        kept = [*facts, *(item for item in items if not _is_fact(item))]
        if kept:
            room = await self._quota.rows(turn.owner, pool, len(kept))
            if room < len(kept):
                kinds.add(FULL)
                kept = most_important(kept, room)
        return kept, kinds


def _is_fact(item: Learned) -> bool:
    return item.fact.type is not MemoryType.EPISODIC
