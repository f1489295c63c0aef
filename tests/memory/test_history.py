from __future__ import annotations

from dataclasses import replace

import pytest

from app.domain import MAX_HISTORY, Event, State
from app.memory import history as line
from tests.build import START, a_memory, later

NOW = later(100)


@pytest.mark.requirement("M1")
def test_the_first_line_says_how_it_came_to_be() -> None:
    assert line.created(START, "alice") == (Event(START, "created", "alice"),)
    (waiting,) = line.created(START, "alice", State.PENDING)
    assert waiting.reason == "pending"


def test_the_history_is_bounded() -> None:
    memory = a_memory("x", history=line.created(START, "alice"))
    for number in range(MAX_HISTORY + 5):
        memory = replace(
            memory, history=line.recorded(memory, Event(later(number), "corrected", "a"))
        )
    assert len(memory.history) == MAX_HISTORY
    assert memory.history[0].event == "created"
    assert memory.history[-1].at == later(MAX_HISTORY + 4)


def test_reinforcements_push_nothing_else_out() -> None:
    memory = a_memory("x", history=line.created(START, "alice"))
    memory = replace(memory, history=line.recorded(memory, Event(START, "restored", "a")))
    for number in range(3 * MAX_HISTORY):
        said = Event(later(number), "reinforced", "a")
        memory = replace(memory, history=line.recorded(memory, said))
    assert [event.event for event in memory.history[:3]] == ["created", "restored", "reinforced"]
    assert len(memory.history) == MAX_HISTORY
    assert memory.history[-1].at == later(3 * MAX_HISTORY - 1)


def test_what_was_never_held_says_why() -> None:
    told = a_memory("x", history=line.created(START, "alice"))
    for memory in (told, a_memory("y")):
        (event,) = line.never_held(memory, line.LATE).history
        assert (event.event, event.reason, event.at) == ("created", "late", START)
