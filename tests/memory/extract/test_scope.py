from __future__ import annotations

import pytest

from app.memory.extract.scope import is_abbreviation, said
from tests.memory.extract.reading import EN

pytestmark = pytest.mark.requirement("M29")


def spoken(text: str) -> list[str]:
    return [sentence.raw for sentence in said(text, EN)]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("I own a boat. I sail.", ["I own a boat.", "I sail."]),
        # material: what follows, and what came before
        ("I own a boat. Translate into Dutch: We sail. I swim.", ["I own a boat."]),
        ("Please proofread: I has a boat.", []),
        ("Here is the message from my landlord:\nI want the rent.", []),
        ("I was raised by wolves. Rewrite this.", []),
        ("I can haz boat. Is this sentence correct?", []),
        # a part that is played, to the end of the message
        ("I own a boat. Imagine I am a sailor. I have one leg.", ["I own a boat."]),
        ("Let's say I earn a lot. I own a castle.", []),
        ("You are a strict coach. I hate sports.", []),
        ("In this story I am blind.", []),
        # a joke takes back what came before it
        ("I own a boat. I own a moon. Just kidding!", ["I own a boat."]),
        # this system is nobody's life
        ("Do you still remember my boat? I sail.", ["I sail."]),
        ("This is just a test, I own a boat.", []),
        # somebody else's words
        ("My captain said: I am the boss.", ["My captain"]),
    ],
)
def test_what_the_user_says_for_themselves(text: str, left: list[str]) -> None:
    assert spoken(text) == left


@pytest.mark.parametrize(
    ("before", "is_one"),
    [("I met Dr", True), ("see e.g", True), ("J", True), ("So do I", False), ("a boat", False)],
)
def test_abbreviations(before: str, *, is_one: bool) -> None:
    assert is_abbreviation(before, EN) is is_one
    assert is_abbreviation("", EN) is False
