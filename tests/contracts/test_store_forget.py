"""Forgetting: what is asked and nothing else, for good, leaving nothing but a tombstone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
import structlog

from app.domain import (
    Change,
    Memory,
    MemoryType,
    Origin,
    Owner,
    Pool,
    State,
    Tenant,
    Vectors,
    Where,
)
from app.memory.rows import Row, digest, to_row
from app.memory.stores.base import PayloadStore
from app.memory.stores.engine import Engine, Order, Write
from app.memory.stores.plan import Plan
from app.ports import Store
from tests.build import (
    ALICE,
    BOB,
    EVERY_STATE,
    FORGOTTEN,
    KEY,
    START,
    a_memory,
    contents,
    keep,
    later,
    vectors_of,
)

SECRET = "My sister Xanthippe is ill"
DERIVED = {"created_us", "updated_us", "digest", "pin", "rev", "shelf"}


def only(memory: Memory) -> Where:
    return Where(ids=frozenset({memory.id}))


async def raw(engine: Engine[Any], owner: Owner, vectors: Vectors) -> tuple[list[Row], int]:
    """All of an owner's rows as they are stored, and how many of them a search can find."""
    everything = Plan(engine.kit, KEY).owned(owner, EVERY_STATE)
    found = await engine.nearest(everything, vectors, 100)
    return await engine.scroll(everything, 100), sum(map(len, found.values()))


@pytest.mark.requirement("M2", "M40")
async def test_a_tombstone_holds_id_owner_when_and_digest(
    store: Store, engine: Engine[Any]
) -> None:
    owner = Owner("acme", "alice", "site")
    row = a_memory(
        SECRET,
        owner,
        slot="sister",
        pinned=True,
        importance=0.9,
        confidence=0.1,
        lang="en",
        type=MemoryType.EPISODIC,
        pool=Pool.PROJECT,
        app="cli",
        conversation_id="c-1",
        source_turn="t-1",
        quote=f"{SECRET}.",
        created_by="xanthippe's brother",
    )
    await keep(store, row)
    query = await vectors_of(SECRET)
    assert (await raw(engine, owner, query))[1] == 2  # positive control: by cosine and by word
    assert await store.forget(owner, only(row), later(9)) == [row.id]

    (stored,), findable = await raw(engine, owner, query)
    assert findable == 0
    bare = a_memory("", owner, id=row.id, pool=Pool.PROJECT, state=State.FORGOTTEN)
    times = replace(bare.times, valid_from=later(9), updated_at=later(9))
    assert {k: v for k, v in stored.items() if k not in DERIVED} == to_row(
        replace(bare, times=times, origin=Origin(owner.user))
    )
    assert stored["digest"] == digest(KEY, SECRET)
    assert stored.keys() == to_row(row).keys() | DERIVED


@pytest.mark.requirement("M2")
async def test_a_tombstone_is_seen_only_if_asked_for(store: Store) -> None:
    gone, kept = a_memory(SECRET), a_memory("kept")
    await keep(store, gone, kept)
    await store.forget(ALICE, only(gone), later(1))
    assert await contents(store, ALICE) == ["kept"]
    assert (await store.find(ALICE, only(gone))).total == 0
    assert (await store.find(ALICE, Where(content=SECRET))).total == 0
    assert (await store.find(Tenant("acme"), Where())).total == 1
    (tomb,) = (await store.find(ALICE, FORGOTTEN)).memories
    assert (tomb.id, tomb.state, tomb.fact.content) == (gone.id, State.FORGOTTEN, "")
    assert (tomb.times.created_at, tomb.times.updated_at) == (START, later(1))
    assert (await store.find(ALICE, EVERY_STATE)).total == 2


@pytest.mark.requirement("M39")
async def test_forget_is_idempotent(store: Store) -> None:
    row = a_memory(SECRET)
    await keep(store, row)
    assert await store.forget(ALICE, only(row), later(1)) == [row.id]
    for again in (only(row), EVERY_STATE, FORGOTTEN, replace(EVERY_STATE, ids=only(row).ids)):
        assert await store.forget(ALICE, again, later(2)) == []
    (tomb,) = (await store.find(ALICE, FORGOTTEN)).memories
    assert tomb.times.updated_at == later(1)


@pytest.mark.requirement("M39")
@pytest.mark.parametrize(
    "where",
    [
        Where(types=frozenset({MemoryType.EPISODIC})),
        Where(slots=frozenset({"home_city"})),
        Where(states=frozenset({State.PENDING, State.FORGOTTEN})),
        Where(project="site"),
        Where(app="cli"),
        Where(conversation_id="c-1"),
        Where(pinned=True),
        Where(created=(None, START)),
        Where(created=(later(100), None)),
        Where(created=(later(50), later(100))),
        Where(content=f" {SECRET.upper()}"),
    ],
    ids=repr,
)
async def test_forget_by_scope(store: Store, where: Where) -> None:
    plain = a_memory("kept")
    await keep(
        store,
        plain,
        a_memory("type", type=MemoryType.EPISODIC),
        a_memory("slot", slot="home_city"),
        a_memory("state", state=State.PENDING),
        a_memory("project", Owner("acme", "alice", "site")),
        a_memory("app", app="cli"),
        a_memory("talk", conversation_id="c-1"),
        a_memory("pin", pinned=True),
        a_memory("before", at=later(-1)),
        a_memory("after", at=later(100)),
        a_memory("between", at=later(50)),
        a_memory(SECRET),
    )
    before = await store.find(ALICE, Where())
    asked = await store.find(ALICE, where)
    gone = await store.forget(ALICE, where, later(200))
    assert gone == [m.id for m in asked.memories]
    assert len(gone) == 1
    assert {m.id for m in before.memories} - {m.id for m in await all_of(store)} == set(gone)
    assert plain in await all_of(store)


async def all_of(store: Store) -> Sequence[Memory]:
    return (await store.find(ALICE, Where())).memories


@pytest.mark.requirement("M39")
async def test_everything_of_one_user_goes_and_nothing_of_another(store: Store) -> None:
    rows = [a_memory(str(number)) for number in range(30)]
    await keep(store, *rows, a_memory("kept", BOB))
    gone = await store.forget(ALICE, EVERY_STATE, later(1))
    assert sorted(gone) == sorted(row.id for row in rows)
    assert (await store.find(ALICE, Where())).total == 0
    assert await contents(store, BOB) == ["kept"]


class Meanwhile:
    """An engine on which something else happens after the next scroll, before it is acted on."""

    exclusive = False

    def __init__(self, engine: Engine[Any], action: Callable[[], Awaitable[object]]) -> None:
        self.kit = engine.kit
        self.nearest, self.count, self.write = engine.nearest, engine.count, engine.write
        self._engine = engine
        self._actions = [action]

    async def scroll(
        self, condition: object, limit: int, *, order: Order | None = Order.NEWEST
    ) -> list[Row]:
        rows = await self._engine.scroll(condition, limit, order=order)
        while self._actions:
            await self._actions.pop()()
        return rows

    async def delete(self, condition: object) -> None:
        await self._engine.delete(condition)


@pytest.mark.requirement("M17", "M40")
async def test_a_use_that_was_already_read_cannot_bring_a_row_back(
    store: Store, engine: Engine[Any]
) -> None:
    row = a_memory(SECRET)
    await keep(store, row)
    racing = Meanwhile(engine, lambda: store.forget(ALICE, only(row), later(1)))
    await PayloadStore(racing, KEY).touch(ALICE, {row.id: 1}, later(2))
    assert await contents(store, ALICE, EVERY_STATE) == [""]
    assert (await raw(engine, ALICE, await vectors_of(SECRET)))[1] == 0


@pytest.mark.requirement("M17")
async def test_a_use_that_was_already_read_cannot_undo_a_change(
    store: Store, engine: Engine[Any]
) -> None:
    row = a_memory("first")
    await keep(store, row)
    second = replace(row, fact=replace(row.fact, content="second"))
    racing = Meanwhile(engine, lambda: store.save(ALICE, [Change(second, expect=row)]))
    await PayloadStore(racing, KEY).touch(ALICE, {row.id: 1}, later(2))
    assert await contents(store, ALICE) == ["second"]


@pytest.mark.requirement("M39", "M40")
async def test_forget_finds_what_changed_under_its_hands(store: Store, engine: Engine[Any]) -> None:
    """A row that changes between being read and being forgotten is read again, and its digest is
    that of what it says now."""
    row = a_memory("first")
    await keep(store, row)
    second = replace(row, fact=replace(row.fact, content="second"))
    racing = Meanwhile(engine, lambda: store.save(ALICE, [Change(second, expect=row)]))
    assert await PayloadStore(racing, KEY).forget(ALICE, only(row), later(2)) == [row.id]
    (stored,), _ = await raw(engine, ALICE, await vectors_of("second"))
    assert (stored["content"], stored["digest"]) == ("", digest(KEY, "second"))


@pytest.mark.parametrize(
    "damage",
    [
        {"content": None},
        {"content": 5},
        {"type": "dream"},
        {"state": "unheard-of"},
        {"state": None},
        {"created_at": "yesterday"},
        {"updated_us": None},
        {"created_us": None},
        {"history": [{"at": None}]},
        {"supersedes": [7]},
        {"use_count": "many"},
        {"pool": 3, "id": "mem_" + "0" * 32},
        {"digest": None, "rev": None, "pin": None},
    ],
    ids=repr,
)
async def test_a_damaged_row_costs_nobody_the_rest(
    store: Store, engine: Engine[Any], damage: Row
) -> None:
    good, bad = a_memory("My good row"), a_memory("My bad row")
    await keep(store, good)
    payload = {**to_row(bad), "created_us": 1, "updated_us": 1, "pin": 0, **damage}
    missing = {key: value for key, value in payload.items() if value is not None}
    assert await engine.write([Write(bad.id, missing, await vectors_of("My bad row"))]) == [True]

    query = await vectors_of("My bad row")
    with structlog.testing.capture_logs() as logs:
        seen = (await store.find(ALICE, Where())).memories
        hits = [hit.memory for hit in await store.search(ALICE, query, Where(), 5)]
    for found in (seen, hits):
        assert [m for m in found if m.id != bad.id] == [good]
    assert {log["event"] for log in logs} <= {"unreadable_row"}
    assert "bad row" not in str(logs)
    await store.touch(ALICE, {good.id: 1, bad.id: 1}, later(1))

    assert await store.forget(ALICE, only(bad), later(2)) == [bad.id]
    assert await store.forget(ALICE, EVERY_STATE, later(3)) == [good.id]
    assert len((await store.find(ALICE, FORGOTTEN)).memories) == 2
    assert (await raw(engine, ALICE, query))[1] == 0
