from __future__ import annotations

import pytest

from app.memory.extract.heuristic import extract
from app.memory.extract.language import load
from tests.memory.extract.reading import AT, learned


@pytest.mark.requirement("M36")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I sold my bike.", {"bike"}),
        ("I cancelled my gym membership last week.", {"gym"}),
        ("My dentist appointment is cancelled.", {"dentist", "appointment"}),
        ("We raised the kitchen budget to 15,000 euros.", {"kitchen", "budget"}),
        ("I don't play chess anymore.", {"play", "chess"}),
    ],
)
def test_what_is_over_or_another_now_names_its_thing(text: str, words: set[str]) -> None:
    (item,) = learned(text)
    assert item.fact.slot or item.topic
    if item.topic:
        assert (set(item.topic.words), item.topic.kept) == (words, True)


@pytest.mark.requirement("M36")
@pytest.mark.parametrize(
    ("code", "text", "words"),
    [
        ("en", "Forget what I said about the allergy.", {"allergy"}),
        ("en", "Please forget that I'm allergic to kiwi.", {"allergic", "kiwi"}),
        ("en", "Actually, I was wrong about Pavel.", {"pavel"}),
        ("de", "Vergiss, was ich über den Umzug gesagt habe.", {"umzug"}),
        ("es", "Olvida lo que dije sobre la alergia.", {"alergia"}),
        ("fr", "Oublie ce que j'ai dit sur mon allergie.", {"allergie"}),
        ("pt", "Esquece o que eu disse sobre a alergia, foi engano.", {"alergia"}),
        ("zh", "忘掉我对芒果过敏这件事吧。", {"对芒果过敏"}),
        ("ja", "犬の件は忘れてください。", {"犬"}),
    ],
)
def test_what_is_taken_back_leaves_nothing_in_its_place(
    code: str, text: str, words: set[str]
) -> None:
    (item,) = extract(text, AT, load(code))
    assert item.topic
    assert (set(item.topic.words), item.topic.kept, item.retracts) == (words, False, True)


@pytest.mark.parametrize(
    "text",
    [
        "Forget it, let's go on.",
        "Ignore the tests for now.",
        "Forget the summary, just give me the code.",
        "Ignore the previous answer.",
        "Delete the file.",
        "I moved my desk to the window.",
        "I changed my mind about the title.",
        "We moved the meeting to the big room.",
    ],
)
def test_a_request_takes_nothing_back(text: str) -> None:
    assert not [item for item in learned(text) if item.topic]


def test_of_several_the_rest_of_the_sentence_tells_which_is_meant() -> None:
    (item,) = learned("I was wrong about Pavel, he isn't a drummer at all.")
    assert item.topic
    assert "drummer" in item.topic.hints


def test_a_new_day_only_ends_what_has_a_day() -> None:
    (item,) = learned("climbing is on mondays now since the gym changed its hours")
    assert item.topic
    assert "wednesday" in item.topic.needs


@pytest.mark.requirement("M35")
@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("My boss is Anna.", "person.boss.name"),
        ("My new boss is Tom.", "person.boss.name"),
        ("My mother lives in Bern.", "person.mother.home_city"),
        ("My mom moved to Basel last year.", "person.mom.home_city"),
        ("My wife works at Acme.", "person.wife.employer"),
        ("My wife started a new job at Globex.", "person.wife.employer"),
        ("My dad is 68.", "person.dad.age"),
        ("We have three kids now.", "child.count"),
        ("My rent is 900 euros.", "own.rent"),
        ("My rent went up to 950 euros.", "own.rent"),
        ("I weigh 75 kg now.", "own.weight"),
        ("I drive a Honda.", "owns.car"),
    ],
)
def test_what_there_is_one_of_has_a_slot(text: str, slot: str) -> None:
    assert [item.fact.slot for item in learned(text)] == [slot]


@pytest.mark.requirement("M36")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I switched from Obsidian to Notion.", {"obsidian"}),
        ("We're migrating our design system from Figma to Penpot.", {"figma"}),
        ("I replaced Todoist with TickTick.", {"todoist"}),
        ("I'm not using Figma anymore.", {"figma"}),
        ("My dog is called Max now.", {"dog"}),
        ("Our dog Rex died last week.", {"rex"}),
        ("We renamed the rabbit, she's called Duchess now.", {"rabbit"}),
        ("The board meeting got pushed to February 15th.", {"board", "meeting"}),
    ],
)
def test_a_change_names_what_it_ends(text: str, words: set[str]) -> None:
    topics = [item.topic for item in learned(text) if item.topic]
    assert [set(topic.words) for topic in topics] == [words]


@pytest.mark.parametrize(
    ("code", "text", "words"),
    [
        ("de", "Ich habe mein Auto verkauft.", {"auto"}),
        ("de", "Ich bin von Vim auf Helix umgestiegen.", {"vim"}),
        ("es", "He vendido mi coche.", {"coche"}),
        ("fr", "J'ai vendu mon vélo.", {"vélo"}),
        ("pt", "Vendi o meu carro.", {"carro"}),
        ("zh", "我把车卖了。", {"车"}),
        ("ja", "もう教室には通っていません。", {"教室"}),
    ],
)
def test_things_end_in_every_language(code: str, text: str, words: set[str]) -> None:
    topics = [item.topic for item in extract(text, AT, load(code)) if item.topic]
    assert [set(topic.words) for topic in topics] == [words]
