from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest

from app.domain import Event, Links, Memory, Pool, State
from app.memory.decide import accepted, opponents, rejected, restored
from tests.build import a_memory, later

NOW = later(100)
ANA = Event(NOW, "activated", "ana")
OLD = a_memory("The user lives in Boston.", slot="home_city", state=State.PENDING)
NEW = a_memory("The user lives in Porto.", slot="home_city", at=later(5))
WAITING = replace(OLD, links=Links(conflicts_with=(NEW.id,)))
HOLDING = replace(NEW, links=Links(conflicts_with=(OLD.id,)))


def in_state(memory: Memory, state: State) -> Memory:
    return replace(memory, state=state)


@pytest.mark.requirement("M37")
@pytest.mark.parametrize(("winner", "loser"), [(WAITING, HOLDING), (HOLDING, WAITING)])
def test_the_side_that_is_accepted_supersedes_the_other(winner: Memory, loser: Memory) -> None:
    changes = accepted(winner, in_state(winner, State.ACTIVE), [loser], ANA)
    first, second = changes
    assert (first.expect, second.expect) == (winner, loser)
    assert (first.memory.state, second.memory.state) == (State.ACTIVE, State.SUPERSEDED)
    assert first.memory.links == Links(supersedes=(loser.id,))
    assert second.memory.links == Links(superseded_by=winner.id)
    event = second.memory.history[-1]
    assert (event.event, event.by, event.at) == ("superseded", "ana", NOW)


@pytest.mark.requirement("M37")
@pytest.mark.parametrize(
    ("gone", "other", "state"),
    [(HOLDING, WAITING, State.ACTIVE), (WAITING, HOLDING, State.ACTIVE)],
)
def test_when_one_side_is_rejected_the_other_stands(
    gone: Memory, other: Memory, state: State
) -> None:
    first, second = rejected(gone, in_state(gone, State.REJECTED), [other], ANA)
    assert first.memory.state is State.REJECTED
    assert (second.expect, second.memory.state) == (other, state)
    assert first.memory.links == second.memory.links == Links()
    freed = other.state is State.PENDING
    assert [e.event for e in second.memory.history] == (["activated"] if freed else [])


def test_of_several_that_wait_the_newest_takes_the_place_of_the_rejected() -> None:
    third = a_memory("The user lives in Oslo.", slot="home_city", state=State.PENDING, at=later(3))
    third = replace(third, links=Links(conflicts_with=(NEW.id, OLD.id)))
    old = replace(OLD, links=Links(conflicts_with=(NEW.id, third.id)))
    gone = replace(NEW, links=Links(conflicts_with=(OLD.id, third.id)))
    _, *rest = rejected(gone, in_state(gone, State.REJECTED), [old, third], ANA)
    states = {change.memory.id: change.memory.state for change in rest}
    assert states == {OLD.id: State.PENDING, third.id: State.ACTIVE}
    assert all(NEW.id not in change.memory.links.conflicts_with for change in rest)
    _, *rest = rejected(old, in_state(old, State.REJECTED), [gone, third], ANA)
    states = {change.memory.id: change.memory.state for change in rest}
    assert states == {NEW.id: State.ACTIVE, third.id: State.PENDING}  # one of them waited


def test_what_holds_beside_it_is_no_opponent() -> None:
    others = [
        a_memory("The user is allergic to nuts.", slot="allergy"),
        a_memory("The user likes tea."),
        replace(NEW, pool=Pool.PROJECT),
        in_state(NEW, State.SUPERSEDED),
        in_state(NEW, State.PENDING),  # waits for another reason
        OLD,
    ]
    assert opponents(OLD, others) == []
    assert opponents(OLD, [NEW]) == [NEW]
    nuts = a_memory("The user is allergic to milk.", slot="allergy")
    assert opponents(nuts, others) == []


@pytest.mark.requirement("M35")
def test_what_is_restored_takes_the_place_of_its_successor() -> None:
    boston = replace(
        a_memory("The user lives in Boston.", slot="home_city", state=State.SUPERSEDED),
        links=Links(superseded_by=NEW.id),
    )
    times = replace(boston.times, valid_to=later(5), superseded_at=later(6))
    boston = replace(boston, times=times)
    porto = replace(NEW, links=Links(supersedes=(boston.id, uuid4())))
    ended, back = restored(boston, [porto], replace(ANA, event="restored"))
    assert (ended.expect, back.expect) == (porto, boston)
    assert back.memory.state is State.ACTIVE
    assert back.memory.links == Links(supersedes=(porto.id,))
    assert (back.memory.times.valid_to, back.memory.times.superseded_at) == (None, None)
    assert ended.memory.state is State.SUPERSEDED
    assert ended.memory.links == Links(
        supersedes=(porto.links.supersedes[1],), superseded_by=boston.id
    )
    assert ended.memory.times.superseded_at == NOW
    lines = [(m.memory.history[-1].event, m.memory.history[-1].by) for m in (ended, back)]
    assert lines == [("superseded", "ana"), ("restored", "ana")]
    assert ended.memory.history[-1].reason == "restored"


@pytest.mark.requirement("M35")
def test_a_successor_without_a_slot_goes_too() -> None:
    car = replace(a_memory("The user owns a car."), state=State.SUPERSEDED)
    sold = a_memory("The user no longer owns a car.", at=later(5))
    ended, back = restored(car, [sold], ANA)
    assert (ended.memory.state, back.memory.state) == (State.SUPERSEDED, State.ACTIVE)
    (alone,) = restored(car, [], ANA)  # its successor was forgotten
    assert alone.memory.state is State.ACTIVE
