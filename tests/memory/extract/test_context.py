from __future__ import annotations

import pytest

from app.domain import Message
from app.memory.extract.context import Context, answered, context, plays, themed
from app.memory.extract.detect import Languages
from app.memory.extract.heuristic import extract
from app.memory.extract.language import load
from tests.memory.extract.reading import AT, EN

LANGUAGES = Languages()


def talk(*texts: str) -> tuple[Message, ...]:
    """A conversation; the user begins and the last one is the assistant's if the count is even."""
    roles = ("user", "assistant")
    return tuple(Message(roles[place % 2], text) for place, text in enumerate(texts))


def told(text: str, *before: str) -> dict[str, str | None]:
    language = LANGUAGES.of(f"{' '.join(before)} {text}")
    found = extract(text, AT, language, talk(*before))
    assert all(item.quote in text for item in found)
    return {item.fact.content: item.fact.slot for item in found}


@pytest.mark.requirement("M31")
@pytest.mark.parametrize(
    ("question", "answer", "content", "slot"),
    [
        (
            "Which city do you live in?",
            "Leipzig, near the zoo.",
            "The user lives in Leipzig",
            "home_city",
        ),
        (
            "Do you have any pets?",
            "yes, a hamster named Toast",
            "hamster named Toast",
            "pet.hamster.name",
        ),
        ("What is your name?", "Ada", "The user's name is Ada", "name"),
        ("Where do you work?", "At Acme.", "Acme", "employer"),
        ("Wo wohnst du?", "Kassel", "Ich wohne in Kassel", "home_city"),
        ("¿Cómo te llamas?", "Lucía", "Me llamo Lucía", "name"),
        ("Tu habites où ?", "Rennes", "J'habite à Rennes", "home_city"),
        ("您好！你叫什么？", "林晓", "我叫林晓", "name"),
    ],
)
def test_a_bare_answer_is_read_with_its_question(
    question: str, answer: str, content: str, slot: str
) -> None:
    found = told(answer, "hi", question)
    assert [kept for said, kept in found.items() if content in said] == [slot]


@pytest.mark.requirement("M29")
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("You live in Leipzig, right? Which city do you live in?", "no"),
        ("Do you have any pets?", "Why do you ask?"),
        ("Do you have any pets?", "Please just answer my question."),
        ("You seem to be a teacher.", "Leipzig"),
        ("Which city do you live in?", ""),
    ],
)
def test_what_the_assistant_says_is_nobodys_fact(question: str, answer: str) -> None:
    assert told(answer, "hi", question) == {}


def test_a_sentence_of_its_own_needs_no_question() -> None:
    heard = Context(heard="Which city do you live in?")
    assert answered("I would rather live in Rome", heard, EN) is None
    assert answered("Leipzig", Context(heard="I live in the cloud."), EN) is None


@pytest.mark.requirement("M31")
def test_a_statement_says_what_it_is_for() -> None:
    before = ("I'm planning a trip to Hawaii in May.", "Nice! When?")
    assert list(told("My budget is 10k.", *before)) == [
        "The user's budget for the Hawaii trip is 10k."
    ]
    assert list(told("My budget is 10k.")) == ["The user's budget is 10k."]
    kitchen = ("We are planning our kitchen renovation.", "Nice!")
    assert list(told("My budget is 10k.", *kitchen)) == [
        "The user's budget for the kitchen renovation is 10k."
    ]
    # it says so itself, and is left as it is
    assert themed("my budget for the kitchen is 10k", context(talk(*before)), EN) is None


@pytest.mark.requirement("M29")
@pytest.mark.parametrize(
    ("opening", "said"),
    [
        (
            "Let's do a little fantasy role play. You're the innkeeper, I'm an elf ranger.",
            "I come from the Silver Forest and I have two brothers, both archers.",
        ),
        ("Pretend you are a pirate and I am your captain.", "I live on the Black Pearl."),
        ("Spielen wir Rollenspiel: du bist ein Wirt.", "Ich wohne in Mordor."),
        ("角色扮演：你是海盗。", "我住在黑珍珠号。"),
    ],
)
def test_a_play_goes_on(opening: str, said: str) -> None:
    assert told(said, opening, "Welcome, traveller.") == {}
    assert told(said)


def test_what_only_mentions_one_is_no_play() -> None:
    assert not plays(Context(("Imagine a function that adds two numbers.",)), load("en"))
