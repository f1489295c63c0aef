"""The one meaning of a store, over any engine that can query, scroll, count and write rows.

What a method promises is written in `app.ports.Store`; here is how, once for all engines.
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from app.domain import (
    Candidate,
    Fact,
    Found,
    Memory,
    Origin,
    Owner,
    Pool,
    State,
    Times,
    Vectors,
    Where,
)
from app.errors import EmptyFilterError, StoreError
from app.memory.fusion import Fuse, weighted
from app.memory.rows import (
    Row,
    from_micros,
    id_of,
    stamp,
    to_row,
    wire_id,
)
from app.memory.stores.derived import derived
from app.memory.stores.engine import Engine, Order, Write
from app.memory.stores.evidence import UNRANKED, Evidence, Scores
from app.memory.stores.pins import PinLimits, PinStore
from app.memory.stores.plan import Plan
from app.memory.stores.reading import Reader

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from app.domain import Change, Scope

C = TypeVar("C")
PAGE: Final = 1000
# Rows that match but cannot be written, again and again, end a forget with an error.
ATTEMPTS: Final = 5
# How much deeper than asked each search looks, so that the best of both are surely among them.
DEPTH: Final = 2
# Rows that are candidates whatever their score: pinned ones, slots that a question leans on.
MAX_ALSO: Final = 30
_LIVING: Final = frozenset(State) - {State.FORGOTTEN}


class PayloadStore(Generic[C]):
    """`app.ports.Store` over an engine. `key` is the secret of the content digest."""

    def __init__(
        self,
        engine: Engine[C],
        key: bytes,
        limits: PinLimits | None = None,
        fuse: Fuse | None = None,
    ) -> None:
        self._engine = engine
        self._fuse = fuse or weighted()
        self._key = key
        self._plan = Plan(engine.kit, key)
        self.pins = PinStore(engine, self._plan, limits or PinLimits())
        self._reader = Reader()

    async def search(
        self,
        owner: Owner,
        vectors: Vectors,
        where: Where,
        limit: int,
        *,
        also: Sequence[Where] = (),
        as_of: datetime | None = None,
    ) -> list[Candidate]:
        condition = self._plan.visible(owner, where, as_of)
        ranked = await self._ranked(condition, vectors, limit)
        # Nobody else writes to an engine of our own, so what was read of it still holds.
        found = self._reader.known(ranked) if self._engine.exclusive else {}
        wanted = [self._plan.visible(owner, extra) for extra in also]
        if missing := [key for key in ranked if key not in found]:
            wanted.append(self._engine.kit.ids(missing))
        if wanted:
            chosen = self._engine.kit.every([condition, self._engine.kit.either(wanted)])
            rows = await self._engine.scroll(chosen, len(missing) + MAX_ALSO, order=None)
            found |= {memory.id: memory for memory in self._reader.memories(rows)}
        order = [*(key for key in ranked if key in found), *(found.keys() - ranked.keys())]
        return [Candidate(found[key], ranked.get(key, UNRANKED)) for key in order]

    async def _ranked(self, condition: C, vectors: Vectors, limit: int) -> dict[UUID, Scores]:
        """The best `limit` of a deeper look, each with every score and their fusion."""
        if limit < 1:
            return {}
        depth = limit * DEPTH
        found = Evidence(self._fuse)
        # Word pieces are only compared where something else says that it may be worth it.
        first = await self._engine.nearest(condition, replace(vectors, tokens=()), depth)
        found.add(first)
        ids = found.ids()
        if ids and (vectors.tokens or any(len(hits) == depth for hits in first.values())):
            within = self._engine.kit.every([condition, self._engine.kit.ids(ids)])
            found.add(await self._engine.nearest(within, vectors, len(ids)))
        return found.best(limit)

    async def find(
        self,
        scope: Scope,
        where: Where,
        *,
        limit: int = 100,
        after: UUID | None = None,
        as_of: datetime | None = None,
        oldest: bool = False,
    ) -> Found:
        limit = min(limit, PAGE)
        condition = self._plan.visible(scope, where, as_of)
        anchor = await self._anchor(scope, after) if after else None
        if oldest:
            rows = await self._engine.scroll(condition, limit + 1, order=Order.OLDEST)
        else:
            rows = await self._page(condition, limit + 1, anchor)
        whole = anchor is None and len(rows) <= limit
        total = len(rows) if whole else await self._engine.count(condition)
        return Found(tuple(self._reader.memories(rows[:limit])), total, has_more=len(rows) > limit)

    async def save(self, owner: Owner, changes: Sequence[Change]) -> list[bool]:
        if not all(_allowed(owner, change) for change in changes):
            raise StoreError("a row of another owner cannot be written")
        changed = [change.memory.id for change in changes if _outdates_pins(change)]
        return await self._replaced(changed, [self._write(owner, change) for change in changes])

    async def touch(self, owner: Owner, uses: Mapping[UUID, int], at: datetime) -> None:
        if not uses:
            return
        where = Where(ids=frozenset(uses), states=frozenset({State.ACTIVE}))
        rows = await self._engine.scroll(self._plan.visible(owner, where), len(uses))
        used = [self._used(owner, row, uses[id_of(row)], at) for row in rows]
        await self._written(used)

    async def forget(self, scope: Scope, where: Where, at: datetime) -> list[UUID]:
        if not where.selective:
            raise EmptyFilterError("forget needs a filter")
        living = (where.states or _LIVING) & _LIVING
        if not living:
            return []
        # None also finds a damaged row, whose state is none of these.
        states = None if living == _LIVING else living
        condition = self._plan.owned(scope, replace(where, states=states))
        # Even of what is forgotten already: the call that did it may have been cut short.
        await self.pins.drop(where.ids or ())
        forgotten: list[UUID] = []
        refused = 0
        while rows := await self._engine.scroll(condition, PAGE, order=None):
            ids = [id_of(row) for row in rows]
            done = await self._replaced(ids, [self._tombstone(scope, row, at) for row in rows])
            forgotten += [id_of(row) for row, ok in zip(rows, done, strict=True) if ok]
            refused = 0 if any(done) else refused + 1
            if refused == ATTEMPTS:
                raise StoreError("some rows cannot be forgotten")
        return forgotten

    async def _replaced(self, ids: Sequence[UUID], writes: Sequence[Write[C]]) -> list[bool]:
        """Write, and leave no pin that shows what these memories said before.

        Before, since a stop in between must not leave any; behind it, for those put meanwhile.
        """
        await self.pins.drop(ids)
        try:
            return await self._written(writes)
        finally:
            await self.pins.drop(ids)

    async def _written(self, writes: Sequence[Write[C]]) -> list[bool]:
        try:
            return await self._engine.write(writes)
        finally:
            self._reader.drop(write.id for write in writes)

    async def _anchor(self, scope: Scope, after: UUID) -> Row:
        every = Where(ids=frozenset({after}), states=frozenset(State))
        rows = await self._engine.scroll(self._plan.visible(scope, every), 1)
        if not rows:
            raise LookupError(wire_id(after))
        return rows[0]

    async def _page(self, condition: C, want: int, anchor: Row | None) -> list[Row]:
        """The next `want` rows by (created_us, id), newest first; equal times are read whole."""
        rows: list[Row] = []
        ceiling = None
        if anchor is not None:
            ceiling = anchor["created_us"]
            rows = [r for r in await self._same_time(condition, ceiling) if r["id"] < anchor["id"]]
        if len(rows) < want:
            missing = want - len(rows)
            older = await self._engine.scroll(
                self._plan.also(condition, low=None, high=ceiling), missing
            )
            if len(older) < missing:
                rows += older
            else:
                last = older[-1]["created_us"]
                rows += [r for r in older if r["created_us"] != last]
                rows += await self._same_time(condition, last)
        rows.sort(key=lambda r: (r["created_us"], r["id"]), reverse=True)
        return rows[:want]

    async def _same_time(self, condition: C, moment: int) -> list[Row]:
        exact = self._plan.also(condition, low=moment, high=moment + 1)
        return await self._engine.scroll(exact, await self._engine.count(exact) or 1)

    def _write(self, owner: Owner, change: Change) -> Write[C]:
        memory, expect = change.memory, change.expect
        if expect is None:
            return Write(memory.id, self._row(memory), change.vectors)
        times = memory.times
        if times.updated_at <= expect.times.updated_at:
            later = expect.times.updated_at + timedelta(microseconds=1)
            memory = replace(memory, times=replace(times, updated_at=later))
        condition = self._plan.unchanged(owner, self._row(expect))
        return Write(memory.id, self._row(memory), change.vectors, condition)

    def _row(self, memory: Memory) -> Row:
        return to_row(memory) | derived(memory, self._key) | {"rev": _revision()}

    def _used(self, owner: Owner, row: Row, times: int, at: datetime) -> Write[C]:
        """`rev` stays: whoever wrote the row at this moment must still find it (see Qdrant)."""
        known = row.get("use_count")
        count = known + times if isinstance(known, int) else times
        used = row | {"use_count": count, "last_used_at": stamp(at)}
        return Write(id_of(row), used, None, self._plan.unchanged(owner, row))

    def _tombstone(self, scope: Scope, row: Row, at: datetime) -> Write[C]:
        """Id, owner, when and the digest are all that stays (M2)."""
        owner = Owner(row["tenant"], row.get("user", ""), row.get("project"))
        created = row.get("created_us")
        bare = Memory(
            id=id_of(row),
            owner=owner,
            pool=Pool.PROJECT if row.get("pool") == Pool.PROJECT else Pool.USER,
            fact=Fact(""),
            state=State.FORGOTTEN,
            times=Times(at, from_micros(created) if isinstance(created, int) else at, at),
            origin=Origin(created_by=owner.user),
        )
        kept = self._row(bare) | {"digest": row.get("digest")}
        return Write(bare.id, kept, None, self._plan.unchanged(scope, row), unindex=True)


def _outdates_pins(change: Change) -> bool:
    old, new = change.expect, change.memory
    return old is not None and _shown(old) != _shown(new)


def _shown(memory: Memory) -> tuple[object, ...]:
    return memory.state, memory.fact.content, memory.times.valid_from, memory.times.valid_to


def _revision() -> str:
    return secrets.token_hex(8)


def _allowed(owner: Owner, change: Change) -> bool:
    """One's own rows and, on a project's call, the project's; a row never changes hands."""
    new, old = change.memory, change.expect
    theirs = new.owner
    if theirs.tenant != owner.tenant:
        return False
    mine = theirs.user == owner.user
    project = owner.project if new.pool is Pool.PROJECT else None
    shared = project is not None and theirs.project == project
    if old is None:
        return mine and (shared or new.pool is Pool.USER)
    return (mine or shared) and (new.id, theirs, new.pool) == (old.id, old.owner, old.pool)
