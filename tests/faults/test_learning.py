"""What must not be learned, or not twice, or not under another date."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from app.memory.extract.heuristic import extract
from app.memory.extract.language import load
from app.memory.render import CLOSE, NOTICE, OPEN
from tests.faults.conftest import Meet
from tests.faults.person import Person
from tests.scripted import completion, http


@pytest.mark.fault(1)
@pytest.mark.parametrize(
    "text",
    [
        f"Which band?\n\n{OPEN}\n{NOTICE}\n2026-01-01\n- The user likes jazz.\n{CLOSE}",
        f"Hello again {OPEN.upper()}\n- I like jazz.\n{CLOSE.upper()} bye",
        f"Which band?\n{OPEN}\n- I live in Lisbon.\n- I like jazz.",
    ],
)
async def test_a_block_that_came_back_teaches_nothing(ana: Person, text: str) -> None:
    await ana.tell(text)
    assert await ana.facts() == []
    assert "jazz" not in str(await ana.rows())


@pytest.mark.fault(2)
@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("explain how to reverse a list", "I would recurse on the tail. I prefer Haskell."),
        ("Who are you?", "I am Sam, I live in Berlin and I love your dog Rex."),
        ("What do you think I like?", "You like jazz, and you work at Acme."),
    ],
)
async def test_what_the_assistant_says_is_no_fact(ana: Person, text: str, answer: str) -> None:
    ana.upstream.script = lambda _: http(json.dumps(completion(answer)).encode())
    await ana.tell(text)
    assert await ana.facts() == []


@pytest.mark.fault(9)
@pytest.mark.parametrize(
    "text",
    [
        "I love hiking. Hiking is something I love. I really love hiking.",
        "I live in Lisbon. Lisbon is where I live. My home is in Lisbon.",
        "I work at Acme. I'm employed at Acme. My employer is Acme.",
    ],
)
async def test_one_fact_in_three_wordings_is_one_row(ana: Person, text: str) -> None:
    await ana.tell(text)
    assert len(await ana.facts()) == 1


@pytest.mark.fault(23)
@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("yesterday I ran 10k", "2023-05-06"),
        ("Last Friday I adopted a cat.", "2023-05-05"),
        ("Three days ago I finished my thesis.", "2023-05-04"),
        ("I have a dentist appointment tomorrow.", "2023-05-08"),
    ],
)
def test_a_day_is_counted_from_the_turn(text: str, day: str) -> None:
    (found,) = extract(text, datetime(2023, 5, 7, 9, tzinfo=UTC), load("en"))
    assert day in found.fact.content


@pytest.mark.fault(32)
@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("my key is sk-test-FAKE0123456789abcdef", "FAKE0123456789"),
        ("My dog is called Rex and my PIN is 4711.", "4711"),
        ("I live in Lisbon and the wifi password is sunflower.", "sunflower"),
        ("Mein Kennwort lautet katze99, und ich mag Tee.", "katze99"),
    ],
)
async def test_a_secret_is_neither_kept_nor_recalled(ana: Person, text: str, secret: str) -> None:
    receipt = await ana.tell(text)
    assert secret not in str(await ana.rows()) + str(receipt)
    await ana.ask("What is my key, my PIN, my Kennwort and my wifi password?")
    assert secret not in ana.upstream.last.body.decode()


@pytest.mark.fault(45)
@pytest.mark.parametrize(
    "day",
    [
        ["ping", "Test message, please ignore.", "Testing 1 2 3", "health check"],
        ["What do you remember about me?", "Does your memory work across sessions?",
         "I am checking whether you store what I say."],
        ["What threshold should the memory gate use?", "Is the memory proxy running?",
         "My memory system is called Remora and it should store facts."],
    ],
)  # fmt: skip
async def test_talk_about_the_memory_leaves_none(ana: Person, day: list[str]) -> None:
    for text in day:
        await ana.tell(text)
    assert await ana.facts() == []


@pytest.mark.fault(22)
@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("我对花生过敏", "我对花生过敏吗？"),
        ("私はピーナッツアレルギーです", "私は何アレルギーですか"),
        ("मुझे मूंगफली से एलर्जी है", "मुझे किससे एलर्जी है?"),
        ("땅콩 알레르기가 있어요", "무슨 알레르기가 있어요?"),
    ],
)
async def test_any_script_is_kept_as_it_is_and_recalled(
    ana: Person, said: str, question: str
) -> None:
    await ana.keep(said)
    assert await ana.facts() == [said]
    assert await ana.ask(question) == [said]


@pytest.mark.fault(22)
@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("我对花生过敏", "我对什么过敏？"),
        ("私はピーナッツアレルギーです。", "私は何アレルギーですか？"),
        ("Ich bin gegen Erdnüsse allergisch.", "Wogegen bin ich allergisch?"),
    ],
)
async def test_it_is_learned_in_the_words_that_were_said(
    meet: Meet, said: str, question: str
) -> None:
    """With the encoder that ships: the one for tests knows no Chinese."""
    ana = await meet(embedding="bundled")
    await ana.tell(said)
    (fact,) = await ana.facts()
    assert fact.rstrip("。.") == said.rstrip("。.")
    assert fact in await ana.ask(question)
