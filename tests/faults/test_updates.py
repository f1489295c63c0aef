"""Statements that change earlier ones."""

from __future__ import annotations

import pytest

from tests.faults.conftest import Meet


@pytest.mark.fault(4)
@pytest.mark.parametrize(
    ("before", "after", "question", "old", "new"),
    [
        ("I work at Acme.", "I started at Globex last week.", "Where do I work?", "Acme",
         "Globex"),
        ("I live in Boston.", "I moved to San Francisco.", "Where do I live?", "Boston",
         "Francisco"),
        ("My favourite colour is blue.", "My favourite colour is green now.",
         "What is my favourite colour?", "blue", "green"),
    ],
)  # fmt: skip
async def test_only_the_new_value_is_shown(
    meet: Meet, before: str, after: str, question: str, old: str, new: str
) -> None:
    ana = await meet()
    await ana.tell(before)
    await ana.tell(after)
    shown = " ".join(await ana.ask(question))
    assert (old in shown, new in shown) == (False, True)
    assert old in str(await ana.facts("superseded"))


@pytest.mark.fault(5)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I love Thai food.", "I can't stand Thai food any more."),
        ("I like coffee.", "I don't like coffee any more."),
        ("I hate running.", "I love running now."),
    ],
)
async def test_a_contradiction_leaves_one_row(meet: Meet, before: str, after: str) -> None:
    ana = await meet()
    await ana.tell(before)
    (old,) = await ana.facts()
    await ana.tell(after)
    (now,) = await ana.facts()
    assert now != old
    assert await ana.facts("superseded") == [old]


@pytest.mark.fault(7)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I own a bike.", "I sold my bike."),
        ("I own a car.", "I don't have a car any more."),
        ("I work at Acme.", "I no longer work at Acme."),
        ("I live in Lisbon.", "I don't live in Lisbon any more."),
        ("I play the guitar.", "I stopped playing the guitar."),
        ("I am learning Spanish.", "I quit learning Spanish."),
    ],
)
async def test_what_is_over_is_not_active(meet: Meet, before: str, after: str) -> None:
    ana = await meet()
    await ana.tell(before)
    (old,) = await ana.facts()
    await ana.tell(after)
    assert old not in await ana.facts()
