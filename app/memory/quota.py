"""How much may be remembered: facts in a day, rows in all, for one person or one project (M34).

Past the day's facts nothing more is learned that day; what people write themselves is not counted.
Past the rows, the oldest episodes are forgotten to make room, then the least valuable facts; never
a pinned memory, nor one that a person rejected (it would come back). The counts are kept from turn
to turn and taken from the store now and then, so that other processes are heard of: a cap is passed
by a little where several write at once.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import structlog

from app.domain import MemoryType, Owner, Pool, State, Via, Where, utc_now
from app.metrics import MADE_ROOM

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from app.domain import Memory
    from app.ports import Store

V = TypeVar("V")
_log = structlog.get_logger()

# So many rows may be added between two looks at the store.
LOOK_EVERY: Final = 100
# Episodes that make room at once, as a share of all rows: then there is peace for a while.
BATCH: Final = 0.01
# The least valuable facts are looked for among so many of the oldest.
WINDOW: Final = 1_000
HOLDERS: Final = 1_024
FACTS: Final = frozenset({MemoryType.SEMANTIC, MemoryType.PROCEDURAL})
_EPISODES: Final = Where(types=frozenset({MemoryType.EPISODIC}), pinned=False)
_MAY_GO: Final = frozenset({State.ACTIVE, State.PENDING, State.SUPERSEDED, State.EXPIRED})
_FACTS: Final = Where(types=FACTS, pinned=False, states=_MAY_GO)
_WRITTEN: Final = frozenset({Via.API, Via.IMPORT})


@dataclass(frozen=True, slots=True)
class Caps:
    """The most that is kept for one person, and for one project."""

    facts_per_day: int = 200
    rows: int = 10_000


class Quota:
    """Asked before something is remembered. Raises `StoreError`."""

    def __init__(self, store: Store, caps: Caps) -> None:
        self._store = store
        self._caps = caps
        self._learned: _Kept[tuple[date, int]] = _Kept()
        self._room: _Kept[int] = _Kept()

    async def facts(self, owner: Owner, pool: Pool, wanted: int, at: datetime) -> int:
        """How many of so many `wanted` facts may be learned on that day; they count as learned."""
        holder, day = holder_of(owner, pool), at.date()
        known = self._learned.get(holder)
        learned = known[1] if known is not None and known[0] == day else None
        if learned is None or learned + wanted > self._caps.facts_per_day:
            learned = await self._learned_on(holder, at)
        allowed = max(min(wanted, self._caps.facts_per_day - learned), 0)
        self._learned.put(holder, (day, learned + allowed))
        return allowed

    async def rows(self, owner: Owner, pool: Pool, wanted: int) -> int:
        """How many of so many `wanted` rows there is room for, made if need be."""
        holder = holder_of(owner, pool)
        left = self._room.get(holder) or 0
        if left < wanted:
            total = (await self._store.find(holder, Where(), limit=0)).total
            if (over := total + wanted - self._caps.rows) > 0:
                total -= await self._make_room(holder, over)
            left = min(self._caps.rows - total, max(LOOK_EVERY, wanted))
        allowed = max(min(wanted, left), 0)
        self._room.put(holder, left - allowed)
        return allowed

    async def _learned_on(self, holder: Owner, at: datetime) -> int:
        midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
        day = Where(types=FACTS, created=(midnight, midnight + timedelta(days=1)))
        found = await self._store.find(holder, day, limit=WINDOW)
        return sum(memory.origin.created_via not in _WRITTEN for memory in found.memories)

    async def _make_room(self, holder: Owner, needed: int) -> int:
        batch = min(max(needed, int(self._caps.rows * BATCH)), WINDOW)
        episodes = (await self._store.find(holder, _EPISODES, limit=batch, oldest=True)).memories
        gone = await self._forget(episodes)
        if gone >= needed:
            return gone
        facts = (await self._store.find(holder, _FACTS, limit=WINDOW, oldest=True)).memories
        return gone + await self._forget(least_valuable(facts, needed - gone))

    async def _forget(self, memories: Sequence[Memory]) -> int:
        """Each as its owner would: a project's rows are its people's."""
        gone = 0
        for owner in dict.fromkeys(memory.owner for memory in memories):
            theirs = frozenset(memory.id for memory in memories if memory.owner == owner)
            gone += len(await self._store.forget(owner, Where(ids=theirs), utc_now()))
        for memory in memories:
            MADE_ROOM.labels(memory.fact.type.value).inc()
        if memories:
            _log.info("made_room", memories=gone)
        return gone


def holder_of(owner: Owner, pool: Pool) -> Owner:
    """Whose rows count together: the person's own, or the project's (nobody's own, then)."""
    if pool is Pool.PROJECT and owner.project is not None:
        return Owner(owner.tenant, "", owner.project)
    return Owner(owner.tenant, owner.user)


def least_valuable(memories: Sequence[Memory], count: int) -> list[Memory]:
    """So many of them: what is not used any more, then by importance, use and age. Pure."""
    return sorted(memories, key=_value)[:count]


def _value(memory: Memory) -> tuple[bool, float, int, datetime]:
    active = memory.state is State.ACTIVE
    return active, memory.fact.importance, memory.usage.count, memory.times.created_at


class _Kept(Generic[V]):
    """A value for each of the last so many holders."""

    def __init__(self) -> None:
        self._values: OrderedDict[Owner, V] = OrderedDict()

    def get(self, holder: Owner) -> V | None:
        """What was put last, if it is still known."""
        return self._values.get(holder)

    def put(self, holder: Owner, value: V) -> None:
        """Keep it, and let go of the one that was put longest ago."""
        self._values[holder] = value
        self._values.move_to_end(holder)
        if len(self._values) > HOLDERS:
            self._values.popitem(last=False)
