from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from prometheus_client import REGISTRY

from app.domain import Memory, MemoryType, Owner, Pool, State, Usage, Via, Where
from app.memory import quota as quotas
from app.memory.quota import Caps, Quota, holder_of, least_valuable
from app.memory.stores.base import PayloadStore
from app.memory.stores.inmemory import InMemoryEngine
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
)

USER = Pool.USER
EPISODIC = MemoryType.EPISODIC


class Counting(InMemoryEngine):
    """An engine that counts how often it is asked for a count or for rows."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    async def count(self, condition: Any) -> int:
        self.asked += 1
        return await super().count(condition)

    async def scroll(self, condition: Any, limit: int, **given: Any) -> Any:
        self.asked += 1
        return await super().scroll(condition, limit, **given)


@pytest.fixture
def engine() -> Counting:
    return Counting()


@pytest.fixture
def store(engine: Counting) -> Store:
    return PayloadStore(engine, KEY)


def episode(number: int, **given: Any) -> Memory:
    return a_memory(f"episode {number}", type=EPISODIC, at=later(number), **given)


def learned(number: int, **given: Any) -> Memory:
    usual: dict[str, Any] = {"created_via": Via.HEURISTIC, "at": later(number)}
    return a_memory(f"fact {number}", **(usual | given))


@pytest.mark.requirement("M34")
async def test_a_day_has_so_many_facts_and_the_next_day_as_many(store: Store) -> None:
    quota = Quota(store, Caps(facts_per_day=5))
    assert [await quota.facts(ALICE, USER, 3, START) for _ in range(3)] == [3, 3, 3]
    # Nothing of it was stored (it was known already), and that is seen where it matters.
    await keep(store, *(learned(n) for n in range(4)))
    assert [await quota.facts(ALICE, USER, 3, START) for _ in range(3)] == [1, 1, 1]
    await keep(store, learned(4))
    assert await quota.facts(ALICE, USER, 3, START) == 0
    assert await quota.facts(ALICE, USER, 3, START + timedelta(days=1)) == 3
    assert await quota.facts(BOB, USER, 3, START) == 3


@pytest.mark.requirement("M34")
async def test_only_facts_that_were_learned_count_for_the_day(store: Store) -> None:
    written = [learned(n, created_via=via) for n, via in enumerate((Via.API, Via.IMPORT))]
    yesterday = learned(9, at=START - timedelta(days=1))
    await keep(store, *written, yesterday, episode(3), learned(4, state=State.SUPERSEDED))
    assert await Quota(store, Caps(facts_per_day=5)).facts(ALICE, USER, 9, START) == 4


@pytest.mark.requirement("M34")
async def test_the_oldest_episodes_make_room_first(store: Store) -> None:
    await keep(store, *(episode(n, pinned=n == 0) for n in range(4)))
    await keep(store, learned(-5, importance=0.0))
    kind = {"type": "episodic"}
    before = REGISTRY.get_sample_value("remora_made_room_total", kind) or 0
    assert await Quota(store, Caps(rows=5)).rows(ALICE, USER, 2) == 2
    assert await contents(store, ALICE) == ["episode 3", "episode 0", "fact -5"]
    assert len((await store.find(ALICE, FORGOTTEN)).memories) == 2
    assert REGISTRY.get_sample_value("remora_made_room_total", kind) == before + 2


@pytest.mark.requirement("M34")
async def test_then_the_least_valuable_facts_but_no_pinned_or_rejected_one(store: Store) -> None:
    await keep(
        store,
        learned(0, pinned=True, importance=0.0),
        learned(1, state=State.REJECTED, importance=0.0),
        learned(2, importance=0.9),
        learned(3, importance=0.2),
        learned(4, importance=0.4, state=State.SUPERSEDED),
        learned(5, importance=0.4),
        episode(6),
    )
    quota = Quota(store, Caps(rows=7))
    left = ["fact 5", "fact 2", "fact 1", "fact 0"]
    assert await quota.rows(ALICE, USER, 3) == 3
    assert await contents(store, ALICE, EVERY_STATE) != left
    assert [c for c in await contents(store, ALICE, Where()) if c] == left
    # Where nothing may go there is no room, and nobody is pushed out in silence.
    assert await Quota(store, Caps(rows=3)).rows(ALICE, USER, 2) == 1
    assert await contents(store, ALICE) == ["fact 1", "fact 0"]
    assert await Quota(store, Caps(rows=2)).rows(ALICE, USER, 1) == 0


@pytest.mark.requirement("M34")
def test_use_and_age_decide_between_equals() -> None:
    old, new, used = learned(0), learned(9), replace(learned(1), usage=Usage(3))
    assert least_valuable([new, used, old], 2) == [old, new]


@pytest.mark.requirement("M34")
async def test_a_person_and_a_project_have_room_of_their_own(store: Store) -> None:
    member, other = Owner("acme", "alice", "apollo"), Owner("acme", "bob", "apollo")
    shared = [
        a_memory(f"shared {n}", owner, pool=Pool.PROJECT, at=later(n + 2), importance=0.5)
        for n, owner in enumerate((other, member, other))
    ]
    await keep(store, *shared, learned(1), a_memory("bob's", BOB))
    quota = Quota(store, Caps(rows=3))
    assert await quota.rows(member, USER, 2) == 2
    assert await quota.rows(member, Pool.PROJECT, 1) == 1  # another's makes room, by age
    assert await contents(store, member) == ["shared 2", "shared 1", "fact 1"]
    assert await contents(store, BOB) == ["bob's"]
    assert holder_of(ALICE, Pool.PROJECT) == holder_of(ALICE, USER) == ALICE


@pytest.mark.requirement("M34")
async def test_the_store_is_not_asked_each_time(store: Store, engine: Counting) -> None:
    quota = Quota(store, Caps(facts_per_day=100, rows=1_000))
    for _ in range(50):
        assert await quota.rows(ALICE, USER, 2) == 2
        assert await quota.facts(ALICE, USER, 2, START) == 2
    assert engine.asked <= 4


@pytest.mark.requirement("M34")
async def test_other_writers_are_heard_of(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotas, "LOOK_EVERY", 3)
    quota = Quota(store, Caps(rows=10))
    assert await quota.rows(ALICE, USER, 1) == 1
    await keep(store, *(learned(n, pinned=True) for n in range(10)))
    assert [await quota.rows(ALICE, USER, 1) for _ in range(3)] == [1, 1, 0]


async def test_only_so_many_holders_are_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotas, "HOLDERS", 3)
    quota = Quota(store, Caps())
    for number in range(9):
        await quota.rows(Owner("acme", f"u{number}"), USER, 1)
    assert len(quota._room._values) == 3
