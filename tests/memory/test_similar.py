from __future__ import annotations

import pytest

from app.memory.similar import near_copies, words_of


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("The user lives in Lisbon.", "the user LIVES in lisbon", True),
        ("The user's budget is 10.", "The user's budget is 20.", False),
        ("The user likes tea.", "The user does not like tea.", False),
        ("The user eats meat.", "The user never eats meat.", False),
        ("The user works at Acme.", "The user works at Globex.", False),
        ("", "", True),
    ],
)
def test_near_copies(one: str, other: str, *, same: bool) -> None:
    assert near_copies(words_of(one), words_of(other)) is same
