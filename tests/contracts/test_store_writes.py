"""Conditional writes: of many that expect the same, one wins; nothing comes back from the dead."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from app.domain import Change, Memory, Owner, State, Usage, Where
from app.ports import Store
from tests.build import (
    ALICE,
    BOB,
    EVERY_STATE,
    FORGOTTEN,
    a_memory,
    contents,
    keep,
    later,
    vectors_of,
)

CROWD = 50


async def row_of(store: Store, memory: Memory) -> Memory:
    where = replace(EVERY_STATE, ids=frozenset({memory.id}))
    (found,) = (await store.find(memory.owner, where)).memories
    return found


def saying(memory: Memory, content: str, at: float = 1) -> Memory:
    """The memory with another content, written later."""
    times = replace(memory.times, updated_at=later(at))
    return replace(memory, fact=replace(memory.fact, content=content), times=times)


async def test_a_new_row_is_inserted_once(store: Store) -> None:
    row = a_memory("first")
    vectors = await vectors_of("first")
    assert await store.save(ALICE, [Change(row, vectors)]) == [True]
    assert await store.save(ALICE, [Change(saying(row, "again"), vectors)]) == [False]
    assert await contents(store, ALICE) == ["first"]


@pytest.mark.parametrize("state", list(State))
async def test_an_insert_overwrites_no_state(store: Store, state: State) -> None:
    row = a_memory("first", state=state)
    await keep(store, row)
    if state is State.FORGOTTEN:  # as forget leaves it
        row = replace(row, state=State.ACTIVE, id=a_memory("").id)
        await keep(store, row)
        await store.forget(ALICE, Where(ids=frozenset({row.id})), later(1))
    before = await row_of(store, row)
    assert await store.save(ALICE, [Change(saying(row, "again"))]) == [False]
    assert await row_of(store, row) == before


@pytest.mark.parametrize("stranger", [BOB, Owner("rival", "alice")], ids=repr)
async def test_an_insert_overwrites_no_other_owners_row(store: Store, stranger: Owner) -> None:
    row = a_memory("mine")
    await keep(store, row)
    assert await store.save(stranger, [Change(a_memory("x", stranger, id=row.id))]) == [False]
    assert await row_of(store, row) == row
    assert await contents(store, stranger) == []


async def test_an_expected_row_is_replaced_and_a_stale_one_is_not(store: Store) -> None:
    first = a_memory("first")
    await keep(store, first)
    second = saying(first, "second")
    assert await store.save(ALICE, [Change(second, expect=first)]) == [True]
    assert await store.save(ALICE, [Change(saying(first, "late"), expect=first)]) == [False]
    assert await row_of(store, first) == second
    other_state = replace(second, state=State.PENDING)
    assert await store.save(ALICE, [Change(second, expect=other_state)]) == [False]
    never = a_memory("never there")
    for vectors in (None, await vectors_of("never there")):
        assert await store.save(ALICE, [Change(never, vectors, expect=never)]) == [False]
    assert (await store.find(ALICE, EVERY_STATE)).total == 1


async def test_a_replaced_row_always_looks_changed(store: Store) -> None:
    """Also where the clock stands still: else a second writer would not notice the first."""
    first = a_memory("first")
    await keep(store, first)
    for content in ("second", "third"):
        assert await store.save(ALICE, [Change(saying(first, content, 0), expect=first)]) == [
            content == "second"
        ]
    found = await row_of(store, first)
    assert found.fact.content == "second"
    assert found.times.updated_at == first.times.updated_at + timedelta(microseconds=1)


async def test_each_change_stands_for_itself(store: Store) -> None:
    known, new = a_memory("known"), a_memory("new")
    await keep(store, known)
    changes = [Change(saying(known, "stale"), expect=saying(known, "")), Change(known), Change(new)]
    assert await store.save(ALICE, changes) == [False, False, True]
    assert sorted(await contents(store, ALICE)) == ["known", "new"]


async def test_a_crowd_that_expects_the_same_has_one_winner(busy_store: Store) -> None:
    row = a_memory("first")
    await keep(busy_store, row)
    written = [saying(row, f"writer {number}") for number in range(CROWD)]
    done = await asyncio.gather(*(busy_store.save(ALICE, [Change(w, expect=row)]) for w in written))
    assert done.count([True]) == 1
    assert await row_of(busy_store, row) == written[done.index([True])]


async def test_a_crowd_that_inserts_the_same_id_has_one_winner(busy_store: Store) -> None:
    row = a_memory("first")
    written = [saying(row, f"writer {number}") for number in range(CROWD)]
    done = await asyncio.gather(*(busy_store.save(ALICE, [Change(w)]) for w in written))
    assert done.count([True]) == 1
    assert await contents(busy_store, ALICE) == [f"writer {done.index([True])}"]


@pytest.mark.requirement("M17")
async def test_a_use_is_counted(store: Store) -> None:
    row, other = a_memory("used"), a_memory("not used")
    await keep(store, row, other)
    await store.touch(ALICE, {row.id: 1}, later(1))
    await store.touch(ALICE, {row.id: 3}, later(2))
    assert await row_of(store, row) == replace(row, usage=Usage(4, later(2)))
    assert await row_of(store, other) == other
    await store.touch(ALICE, {}, later(3))
    hits = await store.search(ALICE, await vectors_of("used"), Where(), 1)
    assert hits[0].memory.usage == Usage(4, later(2))


@pytest.mark.requirement("M17")
@pytest.mark.parametrize("state", [state for state in State if state is not State.ACTIVE])
async def test_only_what_is_active_is_counted(store: Store, state: State) -> None:
    row = a_memory("idle", state=state)
    await keep(store, row)
    await store.touch(ALICE, {row.id: 1, a_memory("never there").id: 1}, later(1))
    assert await row_of(store, row) == row
    assert (await store.find(ALICE, EVERY_STATE)).total == 1


@pytest.mark.requirement("M17")
async def test_a_use_does_not_make_a_row_look_changed(store: Store) -> None:
    row = a_memory("used")
    await keep(store, row)
    await store.touch(ALICE, {row.id: 1}, later(1))
    assert await store.save(ALICE, [Change(saying(row, "new"), expect=row)]) == [True]


@pytest.mark.requirement("M17", "M40")
async def test_forget_among_uses_and_writes_is_final(busy_store: Store) -> None:
    rows = [a_memory(f"secret {number}") for number in range(10)]
    store = busy_store
    await keep(store, *rows)
    ids = [row.id for row in rows]

    async def write(row: Memory, number: int) -> None:
        await store.save(ALICE, [Change(saying(row, f"rewritten {number}"), expect=row)])
        await store.save(ALICE, [Change(row)])

    counts = dict.fromkeys(ids, 1)
    uses = [store.touch(ALICE, counts, later(number)) for number in range(10)]
    writes = [write(row, number) for number, row in enumerate(rows)]
    forget = asyncio.create_task(store.forget(ALICE, Where(ids=frozenset(ids)), later(99)))
    await asyncio.gather(*uses[:5], *writes, forget, *uses[5:])
    assert sorted(forget.result()) == sorted(ids)
    assert (await store.find(ALICE, Where())).total == 0
    tombs = (await store.find(ALICE, FORGOTTEN)).memories
    assert {(t.fact.content, t.usage) for t in tombs} == {("", Usage())}
    assert len(tombs) == 10
    assert await store.search(ALICE, await vectors_of("secret 1"), EVERY_STATE, 20) == []
