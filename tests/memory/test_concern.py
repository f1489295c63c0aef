from __future__ import annotations

import pytest

from app.domain import Memory, Topic
from app.memory.concern import MOST, concerned
from app.memory.similar import alike
from tests.build import a_memory


def nobody(_: Memory) -> str:
    return ""


def ended(topic: Topic, *contents: str) -> list[str]:
    return [m.fact.content for m in concerned(topic, [a_memory(text) for text in contents], nobody)]


def of(*words: str) -> Topic:
    return Topic(frozenset(words))


@pytest.mark.requirement("M36")
@pytest.mark.parametrize(
    ("words", "content"),
    [
        (("bike",), "The user has a red bike."),
        (("gym",), "The user goes to the gym at PulseFit on Tuesdays."),
        (("dentist", "appointment"), "The user has a dentist appointment on 3 June, 2027."),
        (("play", "chess"), "The user plays chess."),
        (("alergia",), "Sou alérgico a camarão."),
        (("salle", "escalade"), "Je suis abonné à une salle d'escalade à Villeurbanne."),
        (("对芒果过敏",), "我对芒果过敏。"),
        (("教室",), "毎週水曜に陶芸教室に通っています。"),
    ],
)
def test_the_memory_that_names_the_thing_is_meant(words: tuple[str, ...], content: str) -> None:
    assert ended(of(*words), content) == [content]


@pytest.mark.parametrize(
    ("words", "content"),
    [
        (("bike",), "The user's bike insurance is due in May."),
        (("coche",), "El seguro del coche vence en mayo."),
        (("dentist", "appointment"), "The user's dentist is Dr. Wu."),
        (("car",), "The user lives in Cardiff."),
        (("play", "chess"), "The user plays the cello."),
        (("对芒果过敏",), "我喜欢芒果。"),
    ],
)
def test_what_is_merely_related_stays(words: tuple[str, ...], content: str) -> None:
    assert ended(of(*words), content) == []


def test_of_several_those_with_a_hint_are_meant() -> None:
    called, drums = "My roommate is called Pavel.", "My roommate Pavel is a drummer."
    topic = Topic(frozenset({"pavel"}), hints=frozenset({"drummer"}))
    assert ended(topic, called, drums) == [drums]
    assert ended(of("pavel"), called, drums) == [called, drums]


def test_one_of_what_it_needs_must_be_there() -> None:
    topic = Topic(frozenset({"climbing"}), needs=frozenset({"monday", "wednesday"}))
    kept = "The user loves climbing."
    assert ended(topic, "The user goes climbing every Wednesday.", kept) == [
        "The user goes climbing every Wednesday."
    ]


def test_a_new_number_only_ends_what_has_one() -> None:
    topic = Topic(frozenset({"kitchen", "budget"}), needs=frozenset({"#"}))
    with_one = "The user's budget for the kitchen is 12,000 euros."
    without = "The user's partner keeps the kitchen budget."
    assert ended(topic, with_one, without) == [with_one]


def test_what_could_be_too_many_ends_none() -> None:
    assert ended(of("project"), *(f"Note {n} on the project." for n in range(MOST + 1))) == []


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("allergy", "allergies", True),
        ("drummer", "drummers", True),
        ("alergia", "alérgico", True),
        ("car", "card", False),
        ("cat", "category", False),
    ],
)
def test_forms_of_one_word_begin_alike(one: str, other: str, same: bool) -> None:
    assert alike(one, other) is same
