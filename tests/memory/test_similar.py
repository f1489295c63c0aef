from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.memory.similar import FEW_WORDS, near_copies, words_of


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


@given(st.sets(st.text(max_size=3)), st.sets(st.text(max_size=3)))
def test_among_few_words_only_the_same_are_near_copies(one: set[str], other: set[str]) -> None:
    few = frozenset(sorted(one)[: FEW_WORDS - 1])
    for words in (frozenset(other), few | frozenset(sorted(other)[:1])):
        if words != few:
            assert not near_copies(few, words)
