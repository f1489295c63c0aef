"""What an independent review found: meanings turned round, and memories that ended by mistake."""

from __future__ import annotations

import asyncio

import pytest

from app.memory.extract.detect import Languages
from app.memory.extract.heuristic import extract
from bench.tools.learner import remembered
from tests.memory.extract.reading import AT

LANGUAGES = Languages()


def told(text: str) -> list[str]:
    return [item.fact.content for item in extract(text, AT, LANGUAGES.of(text))]


@pytest.mark.requirement("M36")
@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ("My sister has a piano.", "I sold my piano."),
        ("My wife has a horse.", "My horse died."),
        ("My son uses Python.", "I no longer use Python."),
        ("My brother lives in Rome.", "Forget that I live in Rome."),
        ("My brother has a peanut allergy.", "Forget what I said about my peanut allergy."),
        ("Meine Schwester hat einen Hund.", "Ich habe meinen Hund verkauft."),
        ("Mi hermano bebe café.", "Ya no bebo café."),
        ("Minha irmã tem um carro.", "Vendi o meu carro."),
        ("我弟弟喝咖啡。", "我不喝咖啡了。"),
        ("Ich wohne in Berlin.", "Mein Bruder ist nach Hamburg gezogen."),
        ("Ich wohne in Berlin.", "Ich bin nie nach Hamburg gezogen."),
        ("J'habite à Lyon.", "Mon frère a déménagé à Paris."),
        ("J'habite à Lyon.", "Je n'ai pas déménagé à Paris."),
        ("我住在北京。", "我弟弟搬到上海了。"),
        ("我住在北京。", "我想搬到上海。"),
        ("I have a car.", "I never sold my car."),
        ("I have a car.", "I left my car at the airport."),
        ("I have a phone.", "I gave my phone to the repair shop."),
        ("I go to the gym every day.", "I left the gym early today."),
        ("I am a reporter.", "I finished the report."),
        ("I play the piano.", "I finished my piano lesson today."),
        ("I am learning guitar.", "Forget about my guitar for now, let's do cooking."),
        ("I planned a trip to Japan.", "I cancelled my trip to Spain."),
        ("I use Python for work.", "My colleague switched from Python to Rust."),
        ("我家有车库。", "我把车卖了。"),
    ],
)
def test_what_is_not_meant_stays(kept: str, said: str) -> None:
    (before,) = asyncio.run(remembered([kept]))
    assert before in asyncio.run(remembered([kept, said]))


@pytest.mark.requirement("M35", "M36")
@pytest.mark.parametrize(
    ("old", "said", "stale"),
    [
        ("Vivo en Madrid.", "Me mudé a Sevilla.", "Madrid"),
        ("Tengo un coche.", "He vendido mi coche.", "Tengo un coche"),
        ("J'habite à Lyon.", "J'ai déménagé à Nice.", "Lyon"),
        ("Moro em Braga.", "Me mudei para Faro.", "Braga"),
        ("I play guitar.", "I stopped playing guitar.", "plays guitar"),
        ("I work at Acme.", "I started at Globex last week.", "Acme"),
        ("我住在北京。", "我上个月搬到上海了。", "北京"),
        ("福岡に住んでいます。", "先月、仙台に引っ越しました。", "福岡"),
    ],
)
def test_what_is_over_is_not_active(old: str, said: str, stale: str) -> None:
    (before,) = asyncio.run(remembered([old]))
    assert stale in before
    assert not [row for row in asyncio.run(remembered([old, said])) if stale in row]


@pytest.mark.requirement("M29")
@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("I never moved to Paris.", "lives in Paris"),
        ("We almost moved to Rome.", "lives in Rome"),
        ("I almost joined Apple.", "works at"),
        ("I never turned 40.", "is 40"),
        ("Soy médico, no enfermero.", "Soy enfermero"),
        ("Me llamo Ana, no Anna.", "Me llamo Anna."),
        ("Sou médico, não enfermeiro.", "Sou enfermeiro"),
        ("Je suis médecin, non infirmier.", "Je suis infirmier"),
        ("我是医生，不是护士。", "我是护士"),
        ("I live in Boston, sorry for the confusion earlier.", "in for"),
        ("I speak French, um, and Spanish.", "speaks and"),
        ("I have a son, actually, named Max.", "a named"),
        ("Trabajo en casa, perdón por el ruido.", "en por"),
        ("J'habite à Paris, pardon pour le retard.", "à pour"),
        ("I live in Boston, actually in the North End.", "in in"),
        ("My flight is at 10:30, no wait, 11:45.", "10:11"),
        ("I weigh 80 kg, I mean 176 lbs.", "176 kg"),
        ("Ich wiege 80,5 kg, nein, 81,5 kg.", "80,81"),
        ("Mi alquiler es de 1.200 euros, digo, 1.300.", "1.1"),
        ("I have 3 kids, no 1 is in school yet.", "has 1"),
        ("I finished the thesis.", "finisheds"),
        ("我姐姐住在上海，有两个孩子。", "我有两个孩子"),
        ("Mein Mann und ich wohnen in Ulm.", "Ich wohnen"),
    ],
)
def test_no_meaning_is_turned_round(text: str, wrong: str) -> None:
    assert not [content for content in told(text) if wrong in content]


@pytest.mark.requirement("M31")
@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("My flight is at 10:30, no wait, 11:45.", "11:45"),
        ("I weigh 80 kg, I mean 176 lbs.", "176 lbs"),
        ("I have two brothers, no, three.", "three brothers"),
        ("Mi alquiler es de 1.200 euros, digo, 1.300.", "1.300 euros"),
        ("I live in Boston, actually in the North End.", "in the North End"),
        ("I live in Boston, no wait, Cambridge.", "Cambridge"),
    ],
)
def test_a_correction_counts(text: str, right: str) -> None:
    assert any(right in content for content in told(text))


@pytest.mark.requirement("M29")
@pytest.mark.parametrize(
    "text",
    [
        "Answer in English for this one.",
        "Antworte diesmal auf Englisch.",
        "Responde esta vez en inglés.",
        "Du hast gesagt, ich wohne in Rom.",
        "あなたは東京に住んでいます。",
        "我是素食者，对吧？",
        "我该不该养狗",
        "In my novel, I am a detective and I live in Oslo.",
        "En mi novela soy detective y vivo en Oslo.",
        "My essay: I live in Rome. I love pasta.",
        "Vielleicht bin ich allergisch gegen Nüsse.",
        "Quizás soy alérgico al gluten.",
        "Talvez eu seja alérgico a nozes.",
        "也许我对坚果过敏。",
        "I am vegan, right?",
        "Ich bin Veganer, oder?",
        "Soy vegano, ¿no?",
        "Je suis végétarien, non ?",
        "Sou vegano, né?",
    ],
)
def test_what_is_not_said_of_oneself_is_not_kept(text: str) -> None:
    assert told(text) == []
