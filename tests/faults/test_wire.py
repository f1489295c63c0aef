"""What clients send and get stays theirs."""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import Any

import pytest

from tests.faults.person import Message, Person, lines, user

QUESTION = "What is my dog called?"
FACT = "The user's dog is called Rex."
TEXT = {"type": "text", "text": QUESTION}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}}
AUDIO = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}


@pytest.mark.fault(25)
@pytest.mark.parametrize("parts", [[TEXT, IMAGE], [IMAGE, TEXT], [TEXT, IMAGE, AUDIO, IMAGE]])
async def test_parts_pass_untouched_and_their_text_recalls(
    ana: Person, parts: list[dict[str, Any]]
) -> None:
    await ana.keep(FACT)
    await ana.chat(user(copy.deepcopy(parts)))
    (message,) = ana.upstream.last.json()["messages"]
    assert message["content"][:-1] == parts
    assert lines(message["content"][-1]["text"]) == [FACT]


def called(*ids: str) -> list[Message]:
    """An assistant that calls tools, and their results."""
    calls = [
        {"id": i, "type": "function", "function": {"name": "f", "arguments": '{"a": 1.0}'}}
        for i in ids
    ]
    results = [{"role": "tool", "tool_call_id": i, "content": f"result of {i}"} for i in ids]
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *results]


@pytest.mark.fault(26)
@pytest.mark.parametrize("ids", [("call_1",), ("call_1", "call_2"), ("a", "b", "c")])
async def test_a_tool_loop_passes_but_for_the_one_turn(ana: Person, ids: tuple[str, ...]) -> None:
    await ana.keep(FACT)
    await ana.chat(user(QUESTION))
    grown = ana.upstream.last.json()["messages"][0]
    history = [user(QUESTION), *called(*ids)]
    await ana.chat(*history)
    assert ana.upstream.last.json()["messages"] == [grown, *history[1:]]
    assert lines(grown["content"]) == [FACT]


@pytest.mark.fault(27)
@pytest.mark.parametrize("between", [[], called("call_1"), called("a", "b")])
async def test_each_request_begins_with_the_one_before(ana: Person, between: list[Message]) -> None:
    await ana.keep(FACT, "The user lives in Lisbon.")
    history: list[Message] = [{"role": "system", "content": "Be kind."}]
    bodies = []
    for question in (QUESTION, "And where do I live?", "thanks!"):
        history.append(user(question))
        await ana.chat(*history)
        bodies.append(ana.upstream.last.body)
        history += [*between, {"role": "assistant", "content": "Noted."}]
    assert b"<memory>" in bodies[0]
    for before, after in pairwise(bodies):
        assert after.startswith(before[: before.rindex(b"}]")])


@pytest.mark.fault(46)
@pytest.mark.parametrize("kind", ["whole", "streamed", "other path"])
async def test_one_pool_serves_all_calls(ana: Person, kind: str) -> None:
    for _ in range(170):
        if kind == "other path":
            await ana.http.get("/v1/models/gpt-4")
        else:
            await ana.chat(user("hi"), stream=kind == "streamed")
    assert len(ana.upstream.requests) == 170
    assert ana.upstream.connections == 1
