from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from structlog.testing import capture_logs

from app.memory.chat_model import MAX_ANSWER_BYTES
from app.settings import UpstreamSettings
from tests.memory.extract.learner import (
    BAD,
    Counted,
    Learner,
    Start,
    action,
    said,
)
from tests.scripted import (
    ScriptedUpstream,
    http,
)


@pytest.mark.requirement("M28")
@pytest.mark.fault(31)
@pytest.mark.parametrize("name", ["temperature", "response_format", "max_tokens"])
async def test_a_parameter_that_is_refused_is_left_out_once_and_from_then_on(
    start: Start, counted: Counted, name: str
) -> None:
    complaint = {"error": {"message": "Unsupported parameter", "param": name}}
    refusal = http(json.dumps(complaint).encode(), "400 Bad Request")
    learner = Learner(refusal, said(action("add", "The user sails.", "I sail")))
    ana = await start(learner)
    await ana.tell("I sail.")
    await ana.tell("I sail a lot.")
    assert [name in asked.json() for asked in learner.asked] == [True, False, False]
    assert all("messages" in asked.json() for asked in learner.asked)
    assert "The user sails." in await ana.facts()
    assert counted() == {"ok": 2.0}


@pytest.mark.requirement("M28")
@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (http(b"{}", "400 Bad Request"), "refused"),
        (http(b'{"error": "temperature"}', "401 Unauthorized"), "refused"),
        (http(b'{"error": "max_tokens"}', "429 Too Many Requests"), "refused"),
        (http(b"", "307 Temporary Redirect", "Location: /v1/other"), "refused"),
        (http(b"down", "503 Service Unavailable"), "failed"),
        (b"garbage\r\n\r\n", "unreachable"),
    ],
)
async def test_other_refusals_are_not_tried_again_and_the_heuristic_learns(
    start: Start, counted: Counted, answer: bytes, outcome: str
) -> None:
    learner = Learner(answer)
    ana = await start(learner)
    receipt = await ana.tell("My dog is called Rex.")
    assert receipt["outcome"] == "stored"
    assert len(learner.asked) == 1
    (row,) = (await ana.facts()).values()
    assert (row["content"], row["created_via"]) == ("The user's dog is called Rex.", "heuristic")
    assert counted() == {outcome: 1.0}


@pytest.mark.requirement("M28")
async def test_a_malformed_answer_is_asked_for_once_more(start: Start, counted: Counted) -> None:
    learner = Learner(BAD, said(action("add", "The user sails.", "I sail")))
    ana = await start(learner)
    await ana.tell("I sail.")
    assert (await ana.facts()).keys() == {"The user sails."}
    first, second = (asked.json()["messages"] for asked in learner.asked)
    assert second[0] == first[0]
    assert second[1]["content"].startswith(first[1]["content"] + "\n\n")
    assert len(second) == len(first) == 2
    assert counted() == {"ok": 1.0}


@pytest.mark.requirement("M28")
@pytest.mark.fault(21)
async def test_malformed_twice_loses_nothing_and_no_content_is_logged(
    start: Start, counted: Counted
) -> None:
    learner = Learner(BAD, http(b"x" * (MAX_ANSWER_BYTES + 100_000)))
    ana = await start(learner)
    with capture_logs() as logs:
        await ana.tell("My dog is called Rex.")
    assert (await ana.facts()).keys() == {"The user's dog is called Rex."}
    assert len(learner.asked) == 2
    assert counted() == {"malformed": 1.0}
    (line,) = [line for line in logs if line["event"] == "extractor"]
    assert (line["extractor"], line["outcome"]) == ("llm", "malformed")
    metrics = (await ana.client.get("/metrics")).text
    for private in ("Rex", "dog", "sk-ana", "rather chat"):
        assert private not in str(logs) + metrics


@pytest.mark.requirement("M28")
async def test_an_upstream_that_is_away_or_late_loses_nothing(
    start: Start, upstream: ScriptedUpstream, counted: Counted
) -> None:
    away = UpstreamSettings(name="away", url="http://127.0.0.1:9/v1", models=())
    chats = UpstreamSettings(name="chats", url=upstream.url)
    ana = await start(Learner(), upstreams=(chats, away), llm={"upstream": "away"})
    await ana.tell("My dog is called Rex.")
    assert (await ana.facts()).keys() == {"The user's dog is called Rex."}
    assert counted() == {"unreachable": 1.0}


@pytest.mark.requirement("M28")
async def test_one_that_does_not_come_to_an_end_is_left(start: Start, counted: Counted) -> None:
    async def endless() -> AsyncIterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
        while True:
            yield b" "
            await asyncio.sleep(0.02)

    learner = Learner(endless())
    ana = await start(learner, llm={"timeout": 0.3})
    await ana.tell("My dog is called Rex.")
    assert (await ana.facts()).keys() == {"The user's dog is called Rex."}
    assert counted() == {"late": 1.0}
    async with asyncio.timeout(5):
        await learner.asked[0].closed.wait()
