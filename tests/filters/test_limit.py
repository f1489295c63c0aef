from __future__ import annotations

from dataclasses import replace

import pytest
from prometheus_client import REGISTRY

from app.domain import (
    Fact,
    Learned,
    MemoryType,
    Outcome,
    Owner,
    Policy,
    Pool,
    Source,
    Topic,
    Turn,
    Via,
)
from app.filters import receipt
from app.filters.limit import FULL, TOO_MANY_TODAY, Limit
from app.memory.quota import Caps, Quota
from app.memory.stores.base import PayloadStore
from app.memory.stores.inmemory import InMemoryEngine
from tests.build import ALICE, KEY, START, a_memory, keep

MEMBER = Owner("acme", "alice", "apollo")
EXCERPT = Learned(Fact("The user said: hm.", type=MemoryType.EPISODIC, importance=0.2), "")


def fact(number: int, **given: float) -> Learned:
    return Learned(Fact(f"The user owns boat {number}.", **given), "")  # type: ignore[arg-type]


def turn(*learned: Learned, owner: Owner = ALICE) -> Turn:
    return Turn("r", START, owner, Policy(), Source(), "", learned=learned)


def limit(**caps: int) -> tuple[Limit, PayloadStore[object]]:
    store: PayloadStore[object] = PayloadStore(InMemoryEngine(), KEY)  # type: ignore[arg-type]
    return Limit(Quota(store, Caps(**caps))), store


def blocked(kind: str) -> float:
    return REGISTRY.get_sample_value("remora_blocked_total", {"kind": kind}) or 0.0


@pytest.mark.requirement("M34")
async def test_the_most_important_of_a_days_last_facts_are_kept() -> None:
    within, _ = limit(facts_per_day=2)
    given = turn(fact(1, importance=0.1), fact(2, importance=0.9), EXCERPT, fact(3, importance=0.5))
    before = blocked(TOO_MANY_TODAY)
    done = await within(given)
    assert done.learned == (given.learned[1], EXCERPT, given.learned[3])
    assert done.outcome.blocked == (TOO_MANY_TODAY,)
    assert blocked(TOO_MANY_TODAY) == before + 1


@pytest.mark.requirement("M27", "M34")
async def test_a_turn_past_the_days_facts_is_blocked_and_its_receipt_says_so() -> None:
    within, store = limit(facts_per_day=1)
    await keep(store, a_memory("x", created_via=Via.HEURISTIC))
    done = await within(turn(fact(1), EXCERPT))
    assert done.learned == ()
    told = receipt(done)
    assert (told.outcome, told.blocked) == ("blocked", (TOO_MANY_TODAY,))
    assert (await within(turn(EXCERPT))).learned == (EXCERPT,)  # an excerpt is no fact


@pytest.mark.requirement("M34")
async def test_where_nothing_makes_room_the_turn_is_blocked() -> None:
    within, store = limit(rows=2)
    await keep(store, a_memory("x", pinned=True), a_memory("y", pinned=True))
    before = blocked(FULL)
    for given in (turn(fact(1)), turn(EXCERPT)):
        done = await within(given)
        assert (done.learned, done.outcome.blocked) == ((), (FULL,))
    assert blocked(FULL) == before + 2


@pytest.mark.requirement("M34")
async def test_a_projects_cap_is_not_the_persons() -> None:
    within, _ = limit(facts_per_day=1)
    shared = replace(fact(1), pool=Pool.PROJECT)
    done = await within(turn(shared, fact(2), owner=MEMBER))
    assert done.learned == (shared, done.learned[1])
    assert done.outcome.blocked == ()
    alone = await within(turn(shared, fact(2)))  # without a project it is the person's
    assert len(alone.learned) == 1


async def test_what_fits_passes_as_it_is() -> None:
    within, _ = limit()
    given = replace(turn(fact(1), EXCERPT), outcome=Outcome(blocked=("pin",)))
    assert await within(given) == given
    assert await within(turn()) == turn()


@pytest.mark.requirement("M34", "M36")
async def test_what_only_takes_something_back_needs_no_room() -> None:
    within, _ = limit(facts_per_day=1)
    topic = Topic(frozenset({"boat"}), kept=False)
    forget = Learned(Fact("Forget what I said about the boat."), "", topic=topic)
    done = await within(turn(fact(1, importance=0.9), forget, fact(2, importance=0.1)))
    assert done.learned == (fact(1, importance=0.9), forget)
    full, _ = limit(facts_per_day=0)
    assert forget in (await full(turn(forget))).learned
