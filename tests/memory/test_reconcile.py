from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.domain import Links, Memory, Pool, State, Via
from app.memory.reconcile import reconcile
from tests.build import a_memory, later

NOW = later(100)


def test_something_new_is_added() -> None:
    new = a_memory("The user likes tea.")
    (change,) = reconcile(new, [a_memory("The user likes jazz.")], NOW)
    assert (change.memory, change.expect) == (new, None)


def test_the_same_statement_reinforces_the_old_row() -> None:
    old = a_memory("The user likes tea.", confidence=0.5, importance=0.5)
    (change,) = reconcile(a_memory("the user likes tea!"), [old], NOW)
    assert change.expect == old
    assert change.memory.id == old.id
    assert change.memory.fact.confidence == pytest.approx(0.6)
    assert change.memory.fact.importance == pytest.approx(0.55)
    assert change.memory.times.updated_at == NOW
    assert [e.event for e in change.memory.history] == ["reinforced"]


def test_reinforcement_never_exceeds_its_bounds() -> None:
    old = a_memory("x y", confidence=1.0, importance=1.0)
    (change,) = reconcile(a_memory("x y"), [old], NOW)
    assert (change.memory.fact.confidence, change.memory.fact.importance) == (1.0, 1.0)


@pytest.mark.requirement("M35")
def test_another_value_of_a_slot_supersedes() -> None:
    boston = a_memory("The user lives in Boston.", slot="home_city")
    porto = a_memory("The user lives in Porto.", slot="home_city", at=later(50))
    added, ended = reconcile(porto, [boston], NOW)
    assert added.memory.links.supersedes == (boston.id,)
    assert added.memory.state is State.ACTIVE
    assert ended.expect == boston
    assert ended.memory.state is State.SUPERSEDED
    assert ended.memory.links.superseded_by == porto.id
    assert ended.memory.times.valid_to == porto.times.valid_from
    assert ended.memory.times.superseded_at == NOW


@pytest.mark.requirement("M35")
def test_news_of_an_earlier_change_ends_what_was_said_before() -> None:
    acme = a_memory("The user works at Acme.", slot="employer")
    last_week = later(-7 * 86_400)
    globex = a_memory(
        "The user works at Globex.",
        slot="employer",
        at=later(50),
        valid_from=last_week,
        created_via=Via.HEURISTIC,
    )
    added, ended = reconcile(globex, [acme], NOW)
    assert (added.memory.state, ended.memory.state) == (State.ACTIVE, State.SUPERSEDED)
    assert ended.memory.times.valid_to == last_week


def naming(content: str, *named: Memory, at: float = 50) -> Memory:
    """A new memory that takes the place of these."""
    links = Links(supersedes=tuple(memory.id for memory in named))
    return replace(a_memory(content, at=later(at)), links=links)


@pytest.mark.requirement("M35", "M36")
def test_a_memory_that_is_named_is_superseded_without_a_slot() -> None:
    car, tea = a_memory("The user owns a car."), a_memory("The user likes tea.")
    over = naming("The user no longer owns a car.", car)
    added, ended = reconcile(over, [car, tea], NOW)
    assert (added.memory, added.expect) == (over, None)
    assert (ended.expect, ended.memory.state) == (car, State.SUPERSEDED)
    assert ended.memory.links.superseded_by == over.id


def test_a_memory_that_is_named_but_not_there_is_nothing() -> None:
    car = a_memory("The user owns a car.")
    for known in (
        [],
        [replace(car, state=State.SUPERSEDED)],
        [replace(car, pool=Pool.PROJECT)],
        [replace(car, state=State.FORGOTTEN)],
    ):
        (change,) = reconcile(naming("The user sold the car.", car), known, NOW)
        assert change.memory.state is State.ACTIVE
        assert change.memory.links.supersedes == ()


def test_what_was_said_before_the_memory_it_names_is_history() -> None:
    car = a_memory("The user owns a red car.", at=later(60))
    (change,) = reconcile(naming("The user owns a car.", car), [car], NOW)
    assert change.memory.state is State.SUPERSEDED
    assert change.memory.links.superseded_by == car.id
    assert change.memory.links.supersedes == ()


def test_a_known_statement_can_take_the_place_of_another() -> None:
    oslo, porto = a_memory("The user lives in Oslo."), a_memory("The user lives in Porto.")
    stronger, ended = reconcile(naming("the user lives in Oslo!", porto), [oslo, porto], NOW)
    assert (stronger.expect, stronger.memory.links.supersedes) == (oslo, (porto.id,))
    assert (ended.expect, ended.memory.links.superseded_by) == (porto, oslo.id)
    (change,) = reconcile(naming("the user lives in Oslo!", oslo), [oslo], NOW)
    assert (change.expect, change.memory.state) == (oslo, State.ACTIVE)


def test_an_older_value_that_arrives_late_is_history() -> None:
    porto = a_memory("The user lives in Porto.", slot="home_city", at=later(50))
    boston = a_memory("The user lives in Boston.", slot="home_city", at=later(0))
    (change,) = reconcile(boston, [porto], NOW)
    assert change.expect is None
    assert change.memory.state is State.SUPERSEDED
    assert change.memory.links.superseded_by == porto.id


def test_a_slot_of_many_values_adds() -> None:
    nuts = a_memory("The user is allergic to nuts.", slot="allergy")
    milk = a_memory("The user is allergic to milk.", slot="allergy")
    (change,) = reconcile(milk, [nuts], NOW)
    assert change.memory == milk


def test_pools_do_not_meet() -> None:
    shared = a_memory("The user lives in Boston.", slot="home_city", pool=Pool.PROJECT)
    own = a_memory("The user lives in Boston.", slot="home_city")
    (change,) = reconcile(own, [shared], NOW)
    assert change.memory == own


def test_a_write_that_was_cut_off_is_brought_to_its_end() -> None:
    boston = a_memory("The user lives in Boston.", slot="home_city")
    porto = a_memory("The user lives in Porto.", slot="home_city", at=later(50))
    (ended,) = reconcile(porto, [porto, boston], NOW)
    assert (ended.expect, ended.memory.state) == (boston, State.SUPERSEDED)
    newer = a_memory("The user lives in Oslo.", slot="home_city", at=later(60))
    assert reconcile(porto, [porto, newer], NOW) == ()


def test_a_turn_that_is_learned_twice_leaves_one_row() -> None:
    new = a_memory("The user likes tea.")
    assert reconcile(new, [new], NOW) == ()
    assert reconcile(new, [replace(new, state=State.FORGOTTEN)], NOW) == ()


@pytest.mark.requirement("M2")
def test_what_was_forgotten_after_it_was_said_stays_forgotten() -> None:
    said = a_memory("The user likes tea.", at=later(10))
    tombstone = a_memory("", state=State.FORGOTTEN, updated_at=later(20))
    assert reconcile(said, [tombstone], NOW) == ()
    said_again = a_memory("The user likes tea.", at=later(30))
    (change,) = reconcile(said_again, [tombstone], NOW)
    assert change.memory == said_again


@pytest.mark.parametrize("state", [State.REJECTED, State.PENDING])
def test_what_a_person_decides_is_not_overruled(state: State) -> None:
    decided = a_memory("The user likes tea.", state=state)
    assert reconcile(a_memory("The user likes tea."), [decided], NOW) == ()
    (change,) = reconcile(a_memory("The user likes jazz."), [decided], NOW)
    assert change.expect is None


def home(name: str, at: float = 0, **given: Any) -> Memory:
    return a_memory(f"The user lives in {name}.", slot="home_city", at=later(at), **given)


@pytest.mark.requirement("M35")
@pytest.mark.parametrize("via", [Via.API, Via.IMPORT])
def test_an_old_record_does_not_overturn_what_is_known(via: Via) -> None:
    porto = home("Porto", created_via=Via.HEURISTIC)
    boston = home("Boston", 50, valid_from=later(-9000), created_via=via)
    (change,) = reconcile(boston, [porto], NOW)
    assert (change.expect, change.memory.state) == (None, State.SUPERSEDED)
    assert change.memory.links.superseded_by == porto.id
    assert change.memory.times.valid_to == porto.times.valid_from
    assert [(e.event, e.reason) for e in change.memory.history] == [
        ("created", "late"),
        ("superseded", None),
    ]


@pytest.mark.requirement("M35")
def test_what_was_over_before_keeps_its_end() -> None:
    tokyo = home("Tokyo", valid_to=later(20))
    (change,) = reconcile(home("Porto", 50), [tokyo], NOW)
    assert change.memory.links.supersedes == ()
    _, ended = reconcile(home("Porto", 10), [tokyo], NOW)  # earlier than thought
    assert ended.memory.times.valid_to == later(10)


@pytest.mark.requirement("M35", "M36")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user's standup is at 9.", "The user's standup is at 10."),
        ("The user owns a boat.", "The user owns a red boat."),
        ("The user likes jazz.", "The user likes jazz concerts in Porto."),
    ],
)
def test_related_facts_and_other_numbers_stay_beside_each_other(one: str, other: str) -> None:
    (change,) = reconcile(a_memory(other, at=later(9)), [a_memory(one)], NOW)
    assert (change.expect, change.memory.links.supersedes) == (None, ())


@pytest.mark.requirement("M36")
def test_a_retraction_takes_the_value_of_its_slot() -> None:
    acme = a_memory("The user works at Acme.", slot="employer")
    over = a_memory("The user no longer works at Acme.", slot="employer", at=later(9))
    added, ended = reconcile(over, [acme], NOW)
    assert (added.memory.state, ended.memory.state) == (State.ACTIVE, State.SUPERSEDED)
    assert (ended.memory.links.superseded_by, added.memory.links.supersedes) == (
        over.id,
        (acme.id,),
    )
