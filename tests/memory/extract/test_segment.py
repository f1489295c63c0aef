from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.memory.extract.segment import (
    MAX_CHARS,
    MAX_SENTENCE_CHARS,
    MAX_SENTENCES,
    QUOTED,
    own_words,
    sentences,
)


@pytest.mark.requirement("M29")
@pytest.mark.parametrize(
    ("text", "gone", "kept"),
    [
        ("Look:\n```py\nname = 'Otto'\n```\nI own a boat.", "Otto", "I own a boat."),
        ("Look:\n~~~\nI own a hut.", "hut", "Look:"),
        ("<memory>\n- likes jazz\n</memory>\nHello there", "jazz", "Hello there"),
        ("Hi <memory>\n- likes jazz, cut off", "jazz", "Hi"),
        ("<file path='a'>I am root</file> and I own a boat.", "root", "I own a boat."),
        ("a <b>c I own a boat.", "<b>", "I own a boat."),
        ("> I hate Mondays\nI own a boat.", "Mondays", "I own a boat."),
        ("2026-01-02 10:00:00 INFO I am up\nI own a boat.", "I am up", "I own a boat."),
        ("Traceback (most recent call last):\nI own a boat.", "Traceback", "I own a boat."),
        ("$ make all\nI own a boat.", "make", "I own a boat."),
        ("assistant: I am a bot\nI own a boat.", "bot", "I own a boat."),
        ("let x = {a: [1, 2]};\nI own a boat.", "let x", "I own a boat."),
        ("She wrote “I will quit my job” to us.", "quit", "She wrote"),
        ('She wrote "I will quit my job" to us.', "quit", "She wrote"),
        ("She wrote 'I'll quit my job' to us.", "quit", "She wrote"),
    ],
)
def test_what_is_not_said_is_cut_out(text: str, gone: str, kept: str) -> None:
    words = own_words(text)
    assert gone not in words
    assert kept in words


@pytest.mark.parametrize("title", ['"Dune"', "“The Old Sea”", "«Solaris»"])
def test_a_title_is_not_a_quotation(title: str) -> None:
    assert own_words(f"I love {title}.") == f"I love {title}."


def test_a_quotation_leaves_a_mark() -> None:
    assert own_words("It says “we are closed now”.") == f"It says {QUOTED}."


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It is red! Is it? I sail.", ["It is red!", "Is it?", "I sail."]),
        ("是的。好", ["是的。", "好"]),
        ("- I own a boat\n- I sail\n2) I swim", ["I own a boat", "I sail", "I swim"]),
        ("I own\na boat", ["I own\na boat"]),
        ("I own a boat\nI sail", ["I own a boat", "I sail"]),
        ("Version 3.11 is out", ["Version 3.11 is out"]),
        ("", []),
        ("x" * (MAX_SENTENCE_CHARS + 1), []),
    ],
)  # fmt: skip
def test_sentences(text: str, found: list[str]) -> None:
    assert sentences(text) == found


def test_an_abbreviation_ends_nothing() -> None:
    assert sentences("I met Dr. Li. Nice.", lambda before: before.endswith("Dr")) == [
        "I met Dr. Li.",
        "Nice.",
    ]


@given(st.text(alphabet="aI.!? \n<>/\"'`->|memory", max_size=400))
def test_every_sentence_is_a_bounded_piece_of_the_text(text: str) -> None:
    words = own_words(text)
    for sentence in sentences(words):
        assert sentence in words
        assert 0 < len(sentence) <= MAX_SENTENCE_CHARS
        if QUOTED not in sentence:
            assert sentence in text


@pytest.mark.parametrize("piece", ["<a>", "```", "<memory>", "'a ", '"', "\n", "> ", "I. ", "{"])
def test_hostile_texts_stay_bounded(piece: str) -> None:
    words = own_words(piece * 100_000)
    assert len(words) <= 3 * MAX_CHARS
    assert len(sentences(words)) <= MAX_SENTENCES
