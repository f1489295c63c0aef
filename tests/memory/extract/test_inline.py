from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from prometheus_client import REGISTRY

from app.domain import Learned, Policy, Source, Turn, Via
from app.memory.extract import Asking, HeuristicExtractor, InlineExtractor
from app.memory.extract.detect import Languages
from tests.build import ALICE, START

LANGUAGES = Languages()

SAID = "My dog is called Rex, and I live in Porto. Which park is near?"


def marker(statement: str, quote: str, **more: Any) -> str:
    return json.dumps({"statement": statement, "quote": quote, **more})


REX = marker("The user's dog is called Rex.", "My dog is called Rex")
PORTO = marker("The user lives in Porto.", "I live in Porto")


def turn(*markers: str, query: str = SAID) -> Turn:
    return Turn("t", START, ALICE, Policy(), Source(model="m", markers=markers), query)


def count(outcome: str) -> float:
    return REGISTRY.get_sample_value("remora_inline_total", {"outcome": outcome}) or 0.0


def contents(found: tuple[Learned, ...]) -> list[str]:
    return [item.fact.content for item in found]


class Parts:
    def __init__(self, max_facts: int = 20) -> None:
        self.asking = Asking(1)
        self.extract = InlineExtractor(
            self.asking, HeuristicExtractor(LANGUAGES), LANGUAGES, max_facts=max_facts
        )


@pytest.mark.fault(44)
@pytest.mark.requirement("M28")
async def test_each_marker_is_a_fact_with_its_quote_and_its_slot() -> None:
    found = await Parts().extract(turn(REX, PORTO, REX))
    assert contents(found) == ["The user's dog is called Rex.", "The user lives in Porto."]
    assert [item.quote for item in found] == ["My dog is called Rex", "I live in Porto"]
    assert {item.via for item in found} == {Via.INLINE}
    assert [item.fact.slot for item in found] == ["pet.dog.name", "home_city"]


@pytest.mark.requirement("M28", "M29")
@pytest.mark.parametrize(
    "proposed",
    [
        marker("The user likes jazz.", "I like jazz"),  # made up, or said by the assistant
        marker("The user lives in Oslo.", "I live in Oslo"),  # quoted by the user
        marker("The user's key is x.", "sk-proj-abcdefghijklmnopqrstuvwxyz123456"),
        marker("The user lives.", "I"),
    ],
)
async def test_what_the_user_did_not_say_is_no_fact(proposed: str) -> None:
    said = f'{SAID} She wrote: "I live in Oslo". sk-proj-abcdefghijklmnopqrstuvwxyz123456'
    parts, before = Parts(), count("hit")
    assert await parts.extract(turn(proposed, query=said)) == ()
    assert count("hit") == before + 1


@pytest.mark.requirement("M28")
@pytest.mark.parametrize("nothing", ["none", "None.", ' "none" ', "NONE"])
async def test_nothing_to_say_is_a_hit(nothing: str) -> None:
    parts, before = Parts(), count("hit")
    parts.asking.left_out("m")
    assert await parts.extract(turn(nothing)) == ()
    assert count("hit") == before + 1
    assert parts.asking.level("m") == 0


@pytest.mark.requirement("M28")
@pytest.mark.parametrize(
    ("markers", "outcome"),
    [
        ((), "missed"),
        (('{"statement": "The user', "the user likes tea"), "malformed"),
        (("{}", "[]", "7", '{"statement": 1, "quote": 2}'), "malformed"),
        (("[" * 100_000,), "malformed"),
    ],
)
async def test_without_a_readable_marker_the_rules_read_the_turn(
    markers: tuple[str, ...], outcome: str
) -> None:
    parts, before = Parts(), count(outcome)
    found = await parts.extract(turn(*markers))
    assert contents(found) == ["The user's dog is called Rex.", "The user lives in Porto."]
    assert {item.via for item in found} == {Via.HEURISTIC}
    assert count(outcome) == before + 1
    assert parts.asking.level("m") == 1


@pytest.mark.requirement("M28")
async def test_where_nothing_was_asked_the_rules_read_and_nothing_is_counted() -> None:
    parts = Parts()
    before = [count(outcome) for outcome in ("hit", "missed", "malformed")]
    given = turn()
    found = await parts.extract(replace(given, source=replace(given.source, markers=None)))
    assert contents(found) == ["The user's dog is called Rex.", "The user lives in Porto."]
    assert [count(outcome) for outcome in ("hit", "missed", "malformed")] == before


async def test_one_bad_marker_does_not_spoil_the_others() -> None:
    assert contents(await Parts().extract(turn("{oops", REX))) == ["The user's dog is called Rex."]
    comma = '{"statement": "The user lives in Porto.", "quote": "I live in Porto",}'
    assert contents(await Parts().extract(turn(comma))) == ["The user lives in Porto."]
    assert len(await Parts(max_facts=1).extract(turn(REX, PORTO))) == 1


@pytest.mark.requirement("M31")
async def test_dates_are_written_for_good() -> None:
    proposed = marker("The user flies to Rome tomorrow.", "I fly to Rome tomorrow")
    (found,) = await Parts().extract(turn(proposed, query="I fly to Rome tomorrow."))
    assert "tomorrow" not in found.fact.content
    assert "2026" in found.fact.content


@pytest.mark.requirement("M36")
async def test_what_is_over_retracts() -> None:
    proposed = marker("The user no longer works at Acme.", "I no longer work at Acme")
    (found,) = await Parts().extract(turn(proposed, query="I no longer work at Acme."))
    assert found.retracts


@pytest.mark.requirement("M28")
async def test_a_long_message_is_read_too() -> None:
    said = "I like long walks by the sea. " * 200 + "I live in Porto."
    assert contents(await Parts().extract(turn(PORTO, query=said))) == ["The user lives in Porto."]
