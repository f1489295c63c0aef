from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.domain import Event
from app.memory.rows import micros
from app.memory.stores.derived import derived
from app.memory.stores.plan import NEVER
from tests.build import KEY, START, a_memory, later


@pytest.mark.requirement("M38")
def test_an_active_row_is_held_without_end() -> None:
    row = derived(a_memory("x"), KEY)
    assert (row["held_from_us"], row["held_until_us"]) == (micros(START), NEVER)
    assert "first_from_us" not in row
    far = datetime(9999, 12, 31, tzinfo=UTC)
    assert derived(a_memory("x", valid_to=far), KEY)["held_until_us"] == NEVER


@pytest.mark.requirement("M38")
def test_of_many_times_the_first_and_the_last_are_asked() -> None:
    names = ["superseded", "restored"] * 3
    history = tuple(Event(later(n), name, "a") for n, name in enumerate(names, 1))
    row = derived(a_memory("x", history=history), KEY)
    assert (row["first_from_us"], row["first_until_us"]) == (micros(START), micros(later(1)))
    assert (row["held_from_us"], row["held_until_us"]) == (micros(later(6)), NEVER)


@pytest.mark.requirement("M38")
def test_what_was_never_held_has_no_times() -> None:
    row = derived(a_memory("x", valid_to=later(-1)), KEY)
    assert not {"held_from_us", "held_until_us", "first_from_us", "first_until_us"} & row.keys()
