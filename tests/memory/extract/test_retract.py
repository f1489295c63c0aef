from __future__ import annotations

import pytest

from app.memory.extract.retract import retracted
from app.memory.extract.rules import read
from tests.memory.extract.reading import AT, EN, one_clause


@pytest.mark.parametrize(
    ("text", "content", "slot"),
    [
        ("I no longer work at Initech", "The user no longer works at Initech.", "employer"),
        ("I don't live in Graz anymore", "The user doesn't live in Graz anymore.", "home_city"),
        ("I'm not vegan any more", "The user is not vegan any more.", "diet"),
    ],
)
def test_what_is_over_fills_the_slot_it_empties(text: str, content: str, slot: str) -> None:
    over = retracted(read(one_clause(text), AT, EN))
    assert over is not None
    assert (over.fact.content, over.fact.slot, over.retracts) == (content, slot, True)


@pytest.mark.parametrize("text", ["I live in Graz", "I no longer trust the ferry", "I stopped"])
def test_what_has_no_slot_takes_nothing_back(text: str) -> None:
    assert retracted(read(one_clause(text), AT, EN)) is None
