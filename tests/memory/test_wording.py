from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.memory.wording import first_person


@pytest.mark.parametrize(
    ("kept", "spoken"),
    [
        ("The user lives in Lisbon.", "I lives in Lisbon."),
        ("The user's dog is called Rex.", "my dog is called Rex."),
        ("The user is a nurse.", "I am a nurse."),
        ("The user was a nurse.", "I was a nurse."),
        ("The user has two cats.", "I have two cats."),
        ("The user doesn't eat meat.", "I don't eat meat."),
        ("Tea is what the user likes; the user is sure.", "Tea is what I likes; I am sure."),
        ("The user hasn't a car, the user isolates.", "I hasn't a car, I isolates."),
        ("The users of the userland", "The users of the userland"),
        ("THE USER", "THE USER"),
        ("", ""),
    ],
)
def test_a_statement_is_put_as_its_user_would_say_it(kept: str, spoken: str) -> None:
    assert first_person(kept) == spoken


@given(st.text().filter(lambda text: "user" not in text.casefold()))
def test_a_text_that_names_no_user_stays(text: str) -> None:
    assert first_person(text) == text
