from __future__ import annotations

from typing import Any

import pytest

from app.domain import Event, Memory, Via
from app.memory.precedence import compared, newer, spoken_at
from tests.build import START, a_memory, later


def said(content: str, at: float, **given: Any) -> Memory:
    return a_memory(content, at=later(at), **({"created_via": Via.HEURISTIC} | given))


def both_ways(one: Memory, other: Memory) -> tuple[int, int]:
    return compared(one, other), compared(other, one)


@pytest.mark.requirement("M35")
def test_what_is_said_speaks_of_now_whatever_it_says_of_the_past() -> None:
    news = said("The user moved to Porto.", 9, valid_from=later(-9000))
    assert both_ways(news, said("The user lives in Boston.", 0)) == (1, -1)


@pytest.mark.requirement("M37")
@pytest.mark.parametrize("via", [Via.API, Via.IMPORT])
def test_a_record_speaks_of_the_time_that_it_names(via: Via) -> None:
    record = said("The user lives in Boston.", 9, valid_from=later(-9000), created_via=via)
    assert both_ways(record, said("The user lives in Porto.", 0)) == (-1, 1)
    plan = said("The user lives in Oslo.", 1, valid_from=later(9000), created_via=via)
    assert spoken_at(plan) == later(1)  # a plan does not outlive what is said after it


@pytest.mark.requirement("M37")
def test_two_records_of_the_same_time_have_no_order() -> None:
    one, other = (said(f"T{n}", n, valid_from=START, created_via=Via.API) for n in (1, 2))
    assert both_ways(one, other) == (0, 0)
    assert (newer(one, other), newer(other, one)) == (False, True)


@pytest.mark.requirement("M37")
def test_the_order_of_words_in_one_message_is_none_of_events() -> None:
    one, other = (said(f"T{n}", n, valid_from=START, source_turn="r") for n in (1, 2))
    assert both_ways(one, other) == (0, 0)
    since = said("T3", 0, valid_from=later(5), source_turn="r")
    assert both_ways(since, other) == (1, -1)
    assert both_ways(said("T4", 3), other) == (1, -1)  # of no turn


@pytest.mark.requirement("M36", "M37")
def test_in_one_message_what_is_so_stands_over_what_is_not() -> None:
    given = {"valid_from": START, "source_turn": "r"}
    now = said("The user works at Globex.", 0, **given)
    over = said("The user no longer works at Acme.", 1, **given)
    assert both_ways(now, over) == (1, -1)


@pytest.mark.requirement("M35", "M37")
@pytest.mark.parametrize("name", ["restored", "activated"])
@pytest.mark.parametrize("turn", [None, "r"])
def test_what_a_person_decided_is_not_undone_by_what_was_said_before(
    name: str, turn: str | None
) -> None:
    decided = said("T1", 0, source_turn=turn, history=(Event(later(20), name, "ana"),))
    assert both_ways(decided, said("T2", 10, source_turn=turn)) == (1, -1)
    assert both_ways(decided, said("T3", 30, source_turn="other")) == (-1, 1)
