from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.memory.extract.clauses import MAX_CLAUSES, clauses, together, without_lead_in
from app.memory.extract.wording import plain
from tests.memory.extract.reading import EN


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        ("I'm Uma, I live in Graz and my cat is called Pip.",
         ["I'm Uma", "I live in Graz", "my cat is called Pip"]),
        ("I live in Graz and work at Initech", ["I live in Graz", "I work at Initech"]),
        ("I'm Uma, a baker from Graz", ["I'm Uma", "I'm a baker from Graz"]),
        ("I'm Uma Lind, 41, from Graz", ["I'm Uma Lind", "I'm 41", "I'm from Graz"]),
        ("I'm 41 and allergic to kiwi", ["I'm 41", "I'm allergic to kiwi"]),
        ("My aunt and I own a boat", ["My aunt and I own a boat"]),
        ("I like to cook and bake", ["I like to cook and bake"]),
        ("I own a boat, can you draw it?", ["I own a boat", "can you draw it?"]),
        ("the walls are 8 cm, 10 cm and 12 cm", ["the walls are 8 cm, 10 cm and 12 cm"]),
        ("it cost 15,000 euros", ["it cost 15,000 euros"]),
        ("I love my boat now, thanks", ["I love my boat"]),
        ("Hi there! By the way, remember that I sail", ["I sail"]),
        ("im from Graz", ["I'm from Graz"]),
        ("", []),
    ],
)  # fmt: skip
def test_each_subject_begins_a_clause(sentence: str, parts: list[str]) -> None:
    assert [part.text for part in clauses(plain(sentence), EN)] == parts


@pytest.mark.parametrize(
    ("sentence", "leaning"),
    [
        ("I tried skiing but it was too cold", [False, True]),
        ("I left the band because I had no time", [False, True]),
        ("I own a boat and I live in Graz", [False, False]),
    ],
)
def test_what_leans_on_the_clause_before(sentence: str, leaning: list[bool]) -> None:
    assert [part.leans for part in clauses(plain(sentence), EN)] == leaning


def test_quotes_are_verbatim_without_what_was_added() -> None:
    sentence = without_lead_in(plain("So I live in Graz and work at Initech."), EN)
    assert [part.quote for part in clauses(sentence, EN)] == [
        "I live in Graz",
        "work at Initech",
    ]


def test_clauses_can_be_put_together_again() -> None:
    sentence = plain("I tried skiing, but it was cold and tried it twice.")
    whole = together(sentence, clauses(sentence, EN))
    assert whole.text == "I tried skiing, but it was cold and tried it twice"
    assert whole.quote == "I tried skiing, but it was cold and tried it twice"


@pytest.mark.parametrize(
    ("sentence", "body"),
    [
        ("Hello Bob, I sail.", "I sail."),
        ("Yes, I sail.", "I sail."),
        ("Great Danes are big.", "Great Danes are big."),
        ("No emojis please", "No emojis please"),
    ],
)
def test_lead_ins_say_nothing(sentence: str, body: str) -> None:
    assert without_lead_in(plain(sentence), EN).words == body


@given(st.lists(st.sampled_from(["I", "my", "and", ",", "am", "dog", "in", "Graz", "—"])))
def test_clauses_are_bounded_pieces(words: list[str]) -> None:
    text = " ".join(words)
    found = clauses(plain(text), EN)
    assert len(found) <= MAX_CLAUSES + 1
    assert all(part.quote in text for part in found)
