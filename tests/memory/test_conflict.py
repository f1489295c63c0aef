from __future__ import annotations

from dataclasses import replace

import pytest

from app.domain import Links, MemoryType, State
from app.memory.conflict import (
    as_newest,
    contradicts,
    joined,
    linked,
    opened,
    settles,
    waits,
    withheld,
)
from tests.build import a_memory, later

NOW = later(100)
TEA, NO_TEA = a_memory("The user likes tea."), a_memory("The user doesn't like tea.", at=later(9))


@pytest.mark.requirement("M37")
def test_only_statements_of_one_kind_contradict_each_other() -> None:
    assert contradicts(TEA, NO_TEA)
    assert contradicts(NO_TEA, TEA)
    assert not contradicts(TEA, TEA)
    rule = a_memory("The user doesn't like tea.", type=MemoryType.PROCEDURAL)
    assert not contradicts(TEA, rule)
    talks = [replace(m, fact=replace(m.fact, type=MemoryType.EPISODIC)) for m in (TEA, NO_TEA)]
    assert not contradicts(*talks)


@pytest.mark.requirement("M37")
def test_the_newer_stays_and_the_older_waits() -> None:
    new = as_newest(NO_TEA, [TEA], NOW)
    (old,) = opened(NO_TEA, [TEA], NOW)
    assert (new.state, new.links.conflicts_with) == (State.ACTIVE, (TEA.id,))
    assert (old.expect, old.memory.state) == (TEA, State.PENDING)
    assert old.memory.links.conflicts_with == (NO_TEA.id,)
    assert waits(old.memory)
    assert not waits(new)
    assert linked(new, [TEA])
    for memory in (new, old.memory):
        assert [event.event for event in memory.history] == ["conflict"]
    assert old.memory.history[0].reason == "waits"


@pytest.mark.requirement("M37")
def test_an_older_one_that_arrives_late_waits_itself() -> None:
    added, other = withheld(TEA, [NO_TEA], NOW)
    assert (added.expect, added.memory.state) == (None, State.PENDING)
    assert [event.event for event in added.memory.history] == ["created", "conflict"]
    assert (other.expect, other.memory.state) == (NO_TEA, State.ACTIVE)
    assert other.memory.links.conflicts_with == (TEA.id,)


def test_what_is_written_already_is_not_written_again() -> None:
    (old,), (new,) = opened(NO_TEA, [TEA], NOW), joined(TEA, [NO_TEA], NOW)
    assert opened(NO_TEA, [old.memory], NOW) == joined(TEA, [new.memory], NOW) == ()


def test_only_what_is_said_later_may_settle_it() -> None:
    waiting = replace(TEA, state=State.PENDING, links=Links(conflicts_with=(NO_TEA.id,)))
    assert settles(waiting, a_memory("The user likes tea.", at=later(50)))
    assert not settles(waiting, a_memory("The user likes tea.", at=later(-50)))
    assert not settles(replace(waiting, links=Links()), a_memory("x", at=later(50)))
