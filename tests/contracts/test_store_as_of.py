"""What was held true on a day, and what is the oldest: every store alike."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.domain import Memory, MemoryType, Owner, Pool, State, Tenant, Where
from app.memory.reconcile import reconcile
from app.ports import Store
from tests.build import ALICE, BOB, a_memory, contents, keep, later, vectors_of


async def told(store: Store, memory: Memory, known: list[Memory], at: float) -> None:
    """Bring it in as learning does, at that time."""
    for change in reconcile(memory, known, later(at)):
        indexed = await vectors_of(change.memory.fact.content)
        whole = replace(change, vectors=None if change.expect else indexed)
        assert await store.save(memory.owner, [whole]) == [True]


async def then(store: Store, at: float, where: Where | None = None) -> list[str]:
    found = await store.find(ALICE, where or Where(), as_of=later(at))
    assert found.total == len(found.memories)
    return [memory.fact.content for memory in found.memories]


@pytest.mark.requirement("M38")
async def test_what_was_held_true_then_is_found(store: Store) -> None:
    boston = a_memory("Boston", slot="home_city")
    porto = a_memory("Porto", slot="home_city", at=later(10))
    await told(store, boston, [], 0)
    await told(store, porto, [boston], 10)
    await keep(store, a_memory("not mine", BOB))
    assert [await then(store, at) for at in (-1, 0, 9, 10, 99)] == [
        [],
        ["Boston"],
        ["Boston"],
        ["Porto"],
        ["Porto"],
    ]
    assert await then(store, 5, Where(slots=frozenset({"employer"}))) == []
    for year, shown in ((1, []), (9999, ["Porto"])):
        found = await store.find(ALICE, Where(), as_of=datetime(year, 1, 1, tzinfo=UTC))
        assert [memory.fact.content for memory in found.memories] == shown
    hits = await store.search(ALICE, await vectors_of("Porto"), Where(), 5, as_of=later(5))
    assert [hit.memory.fact.content for hit in hits] == ["Boston"]
    assert hits[0].memory.state is State.SUPERSEDED  # as it is now
    hits = await store.search(
        ALICE, await vectors_of("Boston"), Where(), 5, also=[Where()], as_of=later(50)
    )
    assert [hit.memory.fact.content for hit in hits] == ["Porto"]


@pytest.mark.requirement("M2", "M38")
async def test_what_is_forgotten_is_shown_of_no_day(store: Store) -> None:
    row = a_memory("Boston")
    await keep(store, row)
    await store.forget(ALICE, Where(ids=frozenset({row.id})), later(20))
    assert await then(store, 10) == []
    forgotten = Where(states=frozenset({State.FORGOTTEN}))
    assert (await store.find(ALICE, forgotten, as_of=later(10))).memories == ()
    assert await store.search(ALICE, await vectors_of("Boston"), Where(), 5, as_of=later(10)) == []


@pytest.mark.requirement("M38")
async def test_what_was_not_true_or_withheld_then_is_not_shown(store: Store) -> None:
    await keep(
        store,
        a_memory("over", valid_to=later(3)),
        a_memory("to come", valid_from=later(8)),
        a_memory("rejected", state=State.REJECTED, updated_at=later(4)),
        a_memory("pool", Owner("acme", "carl", "site"), pool=Pool.PROJECT),
    )
    assert sorted(await then(store, 2)) == ["over", "rejected"]
    assert sorted(await then(store, 5)) == []
    assert await then(store, 9) == ["to come"]
    everyone = await store.find(Tenant("acme"), Where(), as_of=later(9))
    assert sorted(memory.fact.content for memory in everyone.memories) == ["pool", "to come"]


@pytest.mark.requirement("M38")
async def test_a_day_has_pages_too(store: Store) -> None:
    rows = [a_memory(f"row {n}", at=later(n)) for n in range(7)]
    await keep(store, *rows)
    seen: list[Memory] = []
    while True:
        after = seen[-1].id if seen else None
        page = await store.find(ALICE, Where(), limit=2, after=after, as_of=later(4))
        seen += page.memories
        assert page.total == 5
        if not page.has_more:
            break
    assert [memory.fact.content for memory in seen] == [f"row {n}" for n in (4, 3, 2, 1, 0)]


@pytest.mark.requirement("M34")
async def test_the_oldest_come_first_if_that_is_asked(store: Store) -> None:
    rows = [a_memory(f"row {n}", at=later(n)) for n in (5, 1, 4, 2, 3)]
    await keep(store, *rows, a_memory("not mine", BOB, at=later(-5)))
    found = await store.find(ALICE, Where(), limit=2, oldest=True)
    assert [memory.fact.content for memory in found.memories] == ["row 1", "row 2"]
    assert (found.total, found.has_more) == (5, True)
    none = Where(types=frozenset({MemoryType.EPISODIC}))
    assert (await store.find(ALICE, none, oldest=True)).memories == ()
    assert await contents(store, ALICE) == [f"row {n}" for n in (5, 4, 3, 2, 1)]
