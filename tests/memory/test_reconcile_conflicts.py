"""Contradictions without an order, and what settles them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain import Links, Memory, State, Via
from app.memory.conflict import contradicts
from app.memory.reconcile import reconcile
from tests.build import a_memory, later

NOW = later(100)


def home(name: str, at: float = 0, **given: Any) -> Memory:
    return a_memory(f"The user lives in {name}.", slot="home_city", at=later(at), **given)


def in_conflict(older: Memory, new: Memory) -> tuple[Memory, Memory]:
    """Both sides, as they are once `new` has come."""
    added, waiting = reconcile(new, [older], NOW)
    return waiting.memory, added.memory


@pytest.mark.requirement("M37")
@pytest.mark.parametrize("same", [{"created_via": Via.IMPORT}, {"source_turn": "req_1"}])
def test_two_values_without_an_order_are_one_conflict(same: dict[str, Any]) -> None:
    same = {"valid_from": later(0)} | same
    boston, porto = home("Boston", 1, **same), home("Porto", 2, **same)
    added, waits = reconcile(porto, [boston], NOW)
    assert (added.memory.state, waits.memory.state) == (State.ACTIVE, State.PENDING)
    assert added.memory.links == Links(conflicts_with=(boston.id,))
    assert waits.memory.links == Links(conflicts_with=(porto.id,))
    assert waits.expect == boston
    added, stays = reconcile(boston, [porto], NOW)  # the older arrives last
    assert (added.memory.state, stays.memory.state) == (State.PENDING, State.ACTIVE)
    assert reconcile(boston, [added.memory, stays.memory], NOW) == ()


@pytest.mark.requirement("M37")
def test_a_statement_and_its_opposite_are_one_conflict() -> None:
    likes = a_memory("The user likes coffee.")
    against = a_memory("The user doesn't like coffee.", at=later(9))
    added, waits = reconcile(against, [likes, a_memory("The user likes tea.")], NOW)
    assert (added.memory.state, waits.expect, waits.memory.state) == (
        State.ACTIVE,
        likes,
        State.PENDING,
    )
    single = [replace(m, fact=replace(m.fact, slot="likes.coffee")) for m in (likes, against)]
    _, ended = reconcile(single[1], [single[0]], NOW)  # in a slot the later one holds
    assert ended.memory.state is State.SUPERSEDED
    order = replace(against, state=State.PENDING)  # what waits itself opposes nobody
    (change,) = reconcile(order, [likes], NOW)
    assert change.memory == order


@pytest.mark.requirement("M37")
def test_a_conflict_that_was_cut_off_is_brought_to_its_end() -> None:
    boston, porto = home("Boston", source_turn="r"), home("Porto", source_turn="r")
    added, _ = reconcile(porto, [boston], NOW)
    (waits,) = reconcile(porto, [added.memory, boston], NOW)
    assert (waits.expect, waits.memory.state) == (boston, State.PENDING)
    likes, against = a_memory("I like tea."), a_memory("I don't like tea.", at=later(9))
    added, _ = reconcile(against, [likes], NOW)
    (waits,) = reconcile(against, [added.memory, likes], NOW)
    assert (waits.expect, waits.memory.state) == (likes, State.PENDING)
    old = replace(boston, state=State.PENDING, links=Links(conflicts_with=(porto.id,)))
    (joins,) = reconcile(boston, [old, porto], NOW)
    assert (joins.memory.state, joins.memory.links.conflicts_with) == (State.ACTIVE, (boston.id,))


@pytest.mark.requirement("M37")
@pytest.mark.parametrize("name", ["Boston", "Porto", "Oslo"])
def test_whoever_speaks_of_it_again_has_decided(name: str) -> None:
    sides = in_conflict(home("Boston", source_turn="r"), home("Porto", source_turn="r"))
    changes = reconcile(home(name, 50), sides, NOW)
    after = {m.id: m for m in sides} | {change.memory.id: change.memory for change in changes}
    (left,) = [memory for memory in after.values() if memory.state is State.ACTIVE]
    assert name in left.fact.content
    assert {m.state for m in after.values() if m is not left} == {State.SUPERSEDED}
    assert not any(memory.links.conflicts_with for memory in after.values())
    assert all(m.links.superseded_by == left.id for m in after.values() if m is not left)
    # What was said before it decides nothing.
    assert not any(
        change.memory.state is State.SUPERSEDED and change.expect
        for change in reconcile(home(name, -50), sides, NOW)
    )


@pytest.mark.requirement("M37")
def test_an_opposite_that_is_said_again_has_decided() -> None:
    likes = a_memory("The user likes coffee.")
    sides = in_conflict(likes, a_memory("The user doesn't like coffee.", at=later(9)))
    again = a_memory("The user likes coffee!", at=later(50))
    added, *ended = reconcile(again, sides, NOW)
    assert (added.memory.state, added.memory.links.conflicts_with) == (State.ACTIVE, ())
    assert {change.memory.id for change in ended} == {memory.id for memory in sides}
    assert {change.memory.state for change in ended} == {State.SUPERSEDED}


@pytest.mark.requirement("M37")
def test_a_third_value_joins_the_conflict() -> None:
    sides = in_conflict(home("Boston", source_turn="r"), home("Porto", source_turn="r"))
    oslo = home("Oslo", source_turn="r")
    added, *others = reconcile(oslo, sides, NOW)
    assert added.memory.state is State.ACTIVE
    assert set(added.memory.links.conflicts_with) == {memory.id for memory in sides}
    assert [change.memory.state for change in others] == [State.PENDING, State.PENDING]
    assert all(oslo.id in change.memory.links.conflicts_with for change in others)


@pytest.mark.requirement("M37")
def test_a_conflict_goes_on_with_what_takes_the_place_of_one_side() -> None:
    sides = in_conflict(home("Boston"), home("not Porto", source_turn="r"))
    oslo = home("Oslo", source_turn="r")  # over "not Porto"; at the same moment as Boston
    added, ended, waits = reconcile(oslo, sides, NOW)
    assert (ended.memory.id, ended.memory.state) == (sides[1].id, State.SUPERSEDED)
    assert (waits.memory.id, waits.memory.state) == (sides[0].id, State.PENDING)
    assert added.memory.links.conflicts_with == (sides[0].id,)
    assert waits.memory.links.conflicts_with == (oslo.id,)


WORDS = st.sampled_from(["Boston", "Porto", "Oslo", "9", "10", "not Boston"])


@pytest.mark.requirement("M35", "M37")
@given(
    st.lists(
        st.tuples(
            WORDS,
            st.integers(0, 3),
            st.sampled_from(["home_city", "language", None]),
            st.booleans(),
        ),
        max_size=8,
    )
)
def test_whatever_is_said_a_slot_holds_one_value_and_pointers_agree(said: list[Any]) -> None:
    rows: dict[UUID, Memory] = {}
    for word, at, slot, turn in said:
        made = {"slot": slot, "at": later(at), "source_turn": "r" if turn else None}
        new = a_memory(f"The user lives in {word}.", created_via=Via.LLM, **made)
        for change in reconcile(new, list(rows.values()), NOW):
            assert (change.expect is None) is (change.memory.id not in rows)
            assert change.expect in {None, rows.get(change.memory.id)}
            rows[change.memory.id] = change.memory
    active = [m for m in rows.values() if m.state is State.ACTIVE]
    assert len([m for m in active if m.fact.slot == "home_city"]) <= 1
    assert not any(contradicts(one, other) for one in active for other in active)
    for memory in rows.values():
        after = memory.links.superseded_by
        assert (after is not None) is (memory.state is State.SUPERSEDED)
        assert after is None or after in rows
        assert memory.state is not State.PENDING or memory.links.conflicts_with
        for other in memory.links.conflicts_with:
            assert memory.id in rows[other].links.conflicts_with
