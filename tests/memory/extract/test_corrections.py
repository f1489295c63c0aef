from __future__ import annotations

import pytest

from app.memory.extract.corrections import MAX_CORRECTIONS, corrected, joined
from app.memory.extract.wording import plain
from tests.memory.extract.reading import EN


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("I live in Graz, no wait, Linz", "I live in Linz"),
        ("I live in Graz, sorry, Linz", "I live in Linz"),
        ("my cat is called Pip — I mean Pep", "my cat is called Pep"),
        ("I'm 51, actually 52", "I'm 52"),
        ("I have two, no, three boats", "I have three boats"),
        ("I live in Graz, no wait, I moved to Linz", "I moved to Linz"),
        ("I live in A, no wait, B, no wait, C", "I live in C"),
    ],
)
def test_the_last_word_counts(words: str, meant: str) -> None:
    assert corrected(words, EN) == meant


@pytest.mark.parametrize(
    "words",
    [
        "I live in Graz, actually I love it",
        "I was talking to my aunt and she's actually funny",
        "I own a boat",
        "sorry",
        "",
    ],
)
def test_what_is_no_correction(words: str) -> None:
    assert corrected(words, EN) is None


def test_a_sentence_may_correct_the_one_before() -> None:
    one, other = joined([plain("I live in Graz."), plain("No wait, Linz.")], EN), plain("I sail.")
    assert [sentence.words for sentence in one] == ["I live in Graz, No wait, Linz."]
    assert joined([other, other], EN) == [other, other]


def test_corrections_are_bounded() -> None:
    words = "I live in A" + ", no wait, B" * 50
    assert (corrected(words, EN) or "").count("no wait") == 50 - MAX_CORRECTIONS
