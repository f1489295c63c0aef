from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.memory.extract.third import Voice, conjugated, sentence, third_person
from tests.memory.extract.reading import EN

OTHERS = Voice("the user and others", "the user's", plural=True)
TEAM = Voice("the team", "the project's")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I sail", "the user sails"),
        ("I'm a baker", "the user is a baker"),
        ("I've never flown", "the user has never flown"),
        ("I don't fly", "the user doesn't fly"),
        ("I really carry my box", "the user really carries their box"),
        ("I went home", "the user went home"),
        ("I can't swim", "the user can't swim"),
        ("my aunt gave me a hat", "the user's aunt gave them a hat"),
        ("I sail and I teach my son", "the user sails and they teach their son"),
        ("I'm late and I'm tired", "the user is late and they are tired"),
        ("my aunt and I own a boat", "the user's aunt and the user own a boat"),
        ("an aunt of mine sails", "an aunt of the user sails"),
        ("we sail", "the user and others sail"),
        ("I read Book I of it", "the user reads Book I of it"),
        ("Iris and Myra sail", "Iris and Myra sail"),
    ],
)
def test_third_person(text: str, told: str) -> None:
    assert third_person(text, EN.grammar, OTHERS) == told


def test_a_team_is_one() -> None:
    assert third_person("we use yarn", EN.grammar, TEAM) == "the team uses yarn"
    assert third_person("our app is small", EN.grammar, TEAM) == "the project's app is small"


def test_who_is_known_needs_no_name() -> None:
    assert third_person("I love my boat", EN.grammar, OTHERS, known=True) == "they love their boat"


@pytest.mark.parametrize(
    ("verb", "form"),
    [("go", "goes"), ("watch", "watches"), ("try", "tries"), ("play", "plays"), ("moved", "moved"),
     ("need", "needs"), ("have", "has"), ("ran", "ran"), ("must", "must")],
)  # fmt: skip
def test_conjugated(verb: str, form: str) -> None:
    assert conjugated(verb, EN.grammar) == form


@pytest.mark.parametrize(
    ("text", "whole"),
    [("the user  sails", "The user sails."), ("Really?", "Really?"), (" , ", ""), ("", "")],
)
def test_a_sentence_has_a_capital_and_a_stop(text: str, whole: str) -> None:
    assert sentence(text) == whole


@given(st.text())
@example("İ")
@example("Mİ")
def test_any_text_can_be_told(text: str) -> None:
    assert len(third_person(text, EN.grammar, OTHERS)) <= 20 * len(text) + 20
