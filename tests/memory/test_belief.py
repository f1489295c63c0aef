from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from app.domain import Event, State
from app.memory import history as line
from app.memory.belief import OPEN_END, held
from tests.build import START, a_memory, later

MAX = OPEN_END


def spans(*events: tuple[float, str] | tuple[float, str, str | None], **given: Any) -> list[Any]:
    history = tuple(Event(later(at), name, "a", *why) for at, name, *why in events)
    return held(a_memory("x", history=history, **given))


@pytest.mark.requirement("M38")
def test_an_active_one_is_held_since_it_is_known() -> None:
    assert spans() == [(START, MAX)]
    assert spans((0, "created"), (5, "reinforced"), (6, "corrected")) == [(START, MAX)]


@pytest.mark.requirement("M38")
@pytest.mark.parametrize("state", ["superseded", "rejected", "expired"])
def test_what_was_withheld_is_held_until_then(state: str) -> None:
    given = {"state": State(state), "updated_at": later(90)}
    assert spans((0, "created"), (5, state), **given) == [(START, later(5))]
    assert spans((0, "created"), **given) == [(START, later(90))]  # a history that was cut


@pytest.mark.requirement("M38")
@pytest.mark.parametrize(
    ("valid", "span"),
    [
        ({"valid_from": later(-9), "valid_to": later(3)}, (START, later(3))),
        ({"valid_from": later(4)}, (later(4), MAX)),
        ({"valid_to": later(-3)}, None),
    ],
)
def test_only_while_it_is_true(valid: dict[str, datetime], span: Any) -> None:
    assert spans(**valid) == ([span] if span else [])


@pytest.mark.requirement("M38")
def test_news_of_an_earlier_change_does_not_change_what_was_believed() -> None:
    told = {"state": State.SUPERSEDED, "superseded_at": later(10)}
    assert spans((10, "superseded"), valid_to=later(2), **told) == [(START, later(10))]
    # "On the first I move": until then the old one is true, and known to be.
    assert spans((10, "superseded"), valid_to=later(30), **told) == [(START, later(30))]


@pytest.mark.requirement("M38")
@pytest.mark.parametrize("reason", ["pending", "late"])
def test_what_waited_or_came_late_was_not_held(reason: str) -> None:
    state = State.PENDING if reason == "pending" else State.SUPERSEDED
    assert spans((0, "created", reason), (0, "superseded"), state=state) == []
    approved = spans((0, "created", reason), (7, "activated"))
    assert approved == [(later(7), MAX)]


@pytest.mark.requirement("M38")
def test_what_was_restored_was_held_twice() -> None:
    events = [(0, "created"), (5, "superseded"), (8, "restored")]
    assert spans(*events) == [(START, later(5)), (later(8), MAX)]


@pytest.mark.requirement("M37", "M38")
def test_of_a_conflict_only_the_side_that_waits_is_withheld() -> None:
    assert spans((5, line.CONFLICT)) == [(START, MAX)]
    waiting = spans((5, line.CONFLICT, line.WAITS), state=State.PENDING)
    assert waiting == [(START, later(5))]


def test_what_is_forgotten_was_never_held() -> None:
    assert spans(state=State.FORGOTTEN) == []
