"""Pages: newest first, every row once, whatever happens between two of them."""

from __future__ import annotations

from uuid import UUID

import pytest

from app.domain import Change, Memory, Owner, Pool, State, Tenant, Where
from app.memory.stores import base
from app.ports import Store
from tests.build import ALICE, BOB, a_memory, contents, keep, later, vectors_of


async def walk(store: Store, limit: int, where: Where | None = None) -> list[Memory]:
    """All pages, one after the other; checks what each says about the rest."""
    asked = where or Where()
    total = (await store.find(ALICE, asked)).total
    seen: list[Memory] = []
    while True:
        page = await store.find(ALICE, asked, limit=limit, after=seen[-1].id if seen else None)
        seen += page.memories
        assert page.total == total
        assert page.has_more == (len(seen) < total)
        if not page.has_more:
            return seen


async def fill(store: Store, *times: float) -> list[Memory]:
    """One row for each time, in the order in which pages show them."""
    rows = [a_memory(f"row {number}", at=later(time)) for number, time in enumerate(times)]
    await keep(store, *rows, a_memory("not mine", BOB))
    return sorted(rows, key=lambda row: (row.times.created_at, row.id), reverse=True)


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
async def test_newest_first_and_every_row_once(store: Store, limit: int) -> None:
    rows = await fill(store, 5, 1, 3, 3, 3, 3, 2, 9, -4, 3)
    assert await walk(store, limit) == rows
    assert await walk(store, limit, Where(created=(later(2), later(4)))) == rows[2:8]


@pytest.mark.parametrize("limit", [1, 2, 5])
async def test_rows_of_the_same_moment_have_an_order(store: Store, limit: int) -> None:
    rows = await fill(store, *([0] * 9))
    assert await walk(store, limit) == rows


async def test_microseconds_count(store: Store) -> None:
    rows = await fill(store, 0.000001, 0, 0.000002, 59.999999)
    assert await walk(store, 1) == rows


async def test_limits(store: Store) -> None:
    rows = await fill(store, 1, 2, 3)
    for limit, shown in ((0, 0), (1, 1), (3, 3), (5000, 3)):
        found = await store.find(ALICE, Where(), limit=limit)
        assert list(found.memories) == rows[:shown]
        assert (found.total, found.has_more) == (3, shown < 3)
    nothing = await store.find(ALICE, Where(app="cli"), limit=0)
    assert (nothing.memories, nothing.total, nothing.has_more) == ((), 0, False)


async def test_a_page_is_bounded_and_forget_goes_beyond_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "PAGE", 10)  # for a thousand
    rows = [a_memory(f"row {number}", at=later(number)) for number in range(21)]
    assert all(await store.save(ALICE, [Change(row) for row in rows]))
    page = await store.find(ALICE, Where(), limit=5000)
    assert (len(page.memories), page.total, page.has_more) == (10, 21, True)
    rest = await store.find(ALICE, Where(), limit=10, after=rows[1].id)
    assert (rest.memories, rest.has_more) == ((rows[0],), False)
    assert len(await store.forget(ALICE, Where(states=frozenset(State)), later(0))) == 21


async def test_the_place_is_kept_when_its_row_is_forgotten_or_changed(store: Store) -> None:
    rows = await fill(store, 5, 4, 3, 3, 3, 2, 1)
    for number, row in enumerate(rows[:-1]):
        if number % 2:
            await store.forget(ALICE, Where(ids=frozenset({row.id})), later(99))
        left = await store.find(ALICE, Where(), limit=2, after=row.id)
        assert list(left.memories) == rows[number + 1 : number + 3]
    assert (await store.find(ALICE, Where(), after=rows[-1].id)).memories == ()


async def test_the_row_before_need_not_match_the_filter(store: Store) -> None:
    await keep(store, a_memory("b", at=later(2)), a_memory("a", app="cli", at=later(1)))
    before = a_memory("c", at=later(3))
    await keep(store, before)
    found = await store.find(ALICE, Where(app="cli"), after=before.id)
    assert [memory.fact.content for memory in found.memories] == ["a"]


async def test_new_rows_do_not_shift_a_walk(store: Store) -> None:
    rows = await fill(store, 1, 2, 3, 4)
    first = await store.find(ALICE, Where(), limit=2)
    await keep(store, a_memory("newer", at=later(9)))
    second = await store.find(ALICE, Where(), limit=2, after=first.memories[-1].id)
    assert [*first.memories, *second.memories] == rows


async def test_after_a_row_that_is_not_ones_own_there_is_no_page(store: Store) -> None:
    theirs = a_memory("theirs", BOB)
    await keep(store, theirs, a_memory("mine"))
    for unknown in (UUID(int=5), theirs.id):
        with pytest.raises(LookupError):
            await store.find(ALICE, Where(), after=unknown)
    assert (await store.find(Tenant("acme"), Where(), after=theirs.id)).total == 2


async def test_both_pools_share_the_pages(store: Store) -> None:
    owner = Owner("acme", "alice", "site")
    for number in range(4):
        pool = Pool.PROJECT if number % 2 else Pool.USER
        await keep(store, a_memory(f"row {number}", owner, pool=pool, at=later(number)))
    first = await store.find(owner, Where(), limit=3)
    assert [m.fact.content for m in first.memories] == ["row 3", "row 2", "row 1"]
    rest = await store.find(owner, Where(), limit=3, after=first.memories[-1].id)
    assert [m.fact.content for m in rest.memories] == ["row 0"]


async def test_times_long_ago_and_far_ahead(store: Store) -> None:
    old = a_memory("old", at=later(-3e9))
    new = a_memory("new", at=later(3e9))
    await keep(store, old, new)
    assert await contents(store, ALICE) == ["new", "old"]
    assert await contents(store, ALICE, Where(created=(None, later(0)))) == ["old"]
    hits = await store.search(ALICE, await vectors_of("old"), Where(created=(later(0), None)), 5)
    assert [hit.memory for hit in hits] == [new]
