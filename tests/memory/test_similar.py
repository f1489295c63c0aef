from __future__ import annotations

import pytest

from app.memory.similar import near_copies, opposed, words_of


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


@pytest.mark.requirement("M37")
@pytest.mark.parametrize(
    ("one", "other", "against"),
    [
        ("The user likes coffee.", "The user doesn't like coffee.", True),
        ("The user likes coffee.", "The user does not like coffee.", True),
        ("The user has kids.", "The user doesn't have kids.", True),
        ("The user has kids.", "The user has no kids.", True),
        ("The user is a morning person.", "The user isn't a morning person.", True),
        ("The user can swim.", "The user cannot swim.", True),
        ("The user eats meat.", "The user never eats meat.", True),
        ("El usuario come carne.", "El usuario nunca come carne.", True),
        ("Der Nutzer raucht.", "Der Nutzer raucht nicht.", True),
        # what is over comes after what it ends
        ("The user likes coffee.", "The user doesn't like coffee any more.", False),
        ("The user likes coffee.", "The user no longer likes coffee.", False),
        ("The user used to like coffee.", "The user didn't like coffee.", False),
        # more than the "not" differs
        ("The user likes coffee.", "The user doesn't like tea.", False),
        ("The user has 2 cats.", "The user doesn't have 3 cats.", False),
        ("The user likes coffee.", "The user doesn't like coffee in the evening.", False),
        ("The user lived in Rome.", "The user doesn't live in Rome.", False),
        # both say the same
        ("The user likes coffee.", "The user likes coffee!", False),
        ("The user never drinks.", "The user does not drink.", False),
    ],
)
def test_statements_that_differ_by_a_not(one: str, other: str, *, against: bool) -> None:
    assert opposed(words_of(one), words_of(other)) is against
    assert opposed(words_of(other), words_of(one)) is against
