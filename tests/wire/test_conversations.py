"""Whole conversations: what the upstream's prompt cache gets to see (M24, M25)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from itertools import pairwise
from typing import Any

import httpx
import pytest

from tests.scripted import Recorded, ScriptedUpstream
from tests.wire.conftest import Serve

FACTS = ("My dog is called Rex.", "I live in Lisbon.", "I work at Initech.")
QUESTIONS = ("What is my dog called?", "And where do I live?", "thanks!", "Where do I work?")
Message = dict[str, Any]
Begin = Callable[..., Awaitable["Chat"]]


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}


class Chat:
    """A client that keeps the history, as every chat client does."""

    def __init__(self, http: httpx.AsyncClient, upstream: ScriptedUpstream) -> None:
        self.http = http
        self.history: list[Message] = [{"role": "system", "content": "Be kind."}]
        self.headers = httpx.Headers()
        self._upstream = upstream

    async def remember(self, *facts: str) -> list[str]:
        ids = []
        for fact in facts:
            answer = await self.http.post("/v1/memory", json={"content": fact})
            ids.append(answer.json()["id"])
        return ids

    async def say(self, *messages: Message, answer: str = "Noted.") -> Recorded:
        """What went upstream for these new messages."""
        self.history += messages
        reply = await self.http.post("/v1/chat/completions", json={"messages": self.history})
        assert reply.status_code == 200
        self.headers = reply.headers
        self.history.append(assistant(answer))
        return self._upstream.requests[-1]


@pytest.fixture
async def begin(upstream: ScriptedUpstream) -> AsyncIterator[Begin]:
    async with AsyncExitStack() as stack:

        async def chat_with(url: str, key: str = "sk-ana") -> Chat:
            client = httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {key}"})
            return Chat(await stack.enter_async_context(client), upstream)

        yield chat_with


@pytest.fixture
async def chat(serve: Serve, begin: Begin) -> Chat:
    chat = await begin(await serve())
    await chat.remember(*FACTS)
    return chat


def common(one: bytes, other: bytes) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def texts(sent: Recorded) -> list[str]:
    return [m["content"] for m in sent.json()["messages"]]


@pytest.mark.requirement("M23", "M24")
@pytest.mark.fault(27)
async def test_every_request_begins_with_the_one_before(chat: Chat) -> None:
    """Field fault 27: the prefix cache is lost every turn."""
    sent = [await chat.say(user(question)) for question in QUESTIONS]
    assert all("<memory>" in texts(sent[-1])[place] for place in (1, 3, 7))
    assert "<memory>" not in texts(sent[-1])[5]
    for before, after in pairwise(sent):
        # All but the brackets that close the messages.
        assert common(before.body, after.body) >= before.body.rindex(b"}]}")
        assert texts(after)[: len(texts(before))] == texts(before)


@pytest.mark.requirement("M24")
async def test_a_memory_is_shown_once_in_a_conversation(chat: Chat) -> None:
    for question in (*QUESTIONS, *QUESTIONS):
        sent = await chat.say(user(question))
    assert all(sent.body.count(fact.encode()) == 1 for fact in FACTS)


@pytest.mark.requirement("M11", "M24")
async def test_the_answer_names_what_the_body_holds(chat: Chat) -> None:
    """Field fault 42: counted as injected, but not in the request."""
    for question in QUESTIONS:
        sent = await chat.say(user(question))
        named = chat.headers["x-memory-ids"].split(",")
        assert len(named) == sum(sent.body.count(fact.encode()) for fact in FACTS)
        assert chat.headers["x-memory-status"] == "injected"


@pytest.mark.requirement("M24")
async def test_a_tool_loop_keeps_its_block_and_gets_no_other(chat: Chat) -> None:
    """Field fault 26: every message of the loop is as the client sent it, but the one turn."""
    first = await chat.say(user(QUESTIONS[0]))
    turn = texts(first)[1]
    chat.history.pop()
    for step in range(3):
        calls = [{"id": f"c{step}", "type": "function", "function": {"name": "f"}}]
        asks = {"role": "assistant", "content": None, "tool_calls": calls}
        gives = {"role": "tool", "tool_call_id": f"c{step}", "content": "I live in Lisbon."}
        sent = await chat.say(asks, gives)
        chat.history.pop()
        messages = sent.json()["messages"]
        assert messages[1]["content"] == turn
        assert [*messages[:1], *messages[2:]] == [*chat.history[:1], *chat.history[2:]]


@pytest.mark.requirement("M24")
async def test_an_edit_keeps_what_comes_before_it(chat: Chat) -> None:
    first = await chat.say(user(QUESTIONS[0]))
    await chat.say(user(QUESTIONS[1]))
    chat.history = chat.history[:3]
    edited = await chat.say(user("Where do I work?"))
    assert texts(edited)[:3] == [*texts(first), "Noted."]
    assert "Initech" in texts(edited)[3]


@pytest.mark.requirement("M24")
async def test_a_turn_that_comes_anew_is_recalled_anew(chat: Chat) -> None:
    """A regeneration, or another conversation that begins with the same words."""
    sent = await chat.say(user(QUESTIONS[0]))
    chat.history = chat.history[:1]
    again = await chat.say(user(QUESTIONS[0]))
    assert again.body == sent.body
    await chat.remember("My other dog is called Bella.")
    chat.history = chat.history[:1]
    after = await chat.say(user(QUESTIONS[0]))
    assert b"Bella" in after.body
    following = await chat.say(user("thanks!"))
    assert texts(following)[:2] == texts(after)


@pytest.mark.requirement("M24")
async def test_what_a_client_rewrites_on_the_way_back_does_not_matter(chat: Chat) -> None:
    sent = await chat.say(user(QUESTIONS[0] + " "))
    chat.history[1] = user(QUESTIONS[0])
    chat.history[2] |= {"id": "msg_1", "refusal": None}
    after = await chat.say(user(QUESTIONS[1]))
    assert texts(sent)[1].split("<memory>")[1] == texts(after)[1].split("<memory>")[1]


@pytest.mark.requirement("M25", "M40")
@pytest.mark.parametrize("how", ["delete", "reject"])
async def test_what_is_deleted_in_the_middle_leaves_no_trace(chat: Chat, how: str) -> None:
    """Field fault 18: derived text keeps asserting what was deleted."""
    for question in QUESTIONS[:2]:
        await chat.say(user(question))
    (rex,) = [m["id"] for m in await listed(chat) if "Rex" in m["content"]]
    if how == "delete":
        await chat.http.delete(f"/v1/memory/{rex}")
    else:
        await chat.http.patch(f"/v1/memory/{rex}", json={"state": "rejected"})
    sent = await chat.say(user("And what is my dog called again?"))
    assert b"Rex" not in sent.body
    assert b"Lisbon" in sent.body


@pytest.mark.requirement("M25")
async def test_a_correction_shows_only_the_new_value(chat: Chat) -> None:
    await chat.say(user("Where do I live?"))
    (home,) = [m["id"] for m in await listed(chat) if "Lisbon" in m["content"]]
    await chat.http.patch(f"/v1/memory/{home}", json={"content": "The user lives in Porto."})
    sent = await chat.say(user("So where do I live now?"))
    assert (b"Lisbon" in sent.body, b"Porto" in sent.body) == (False, True)


@pytest.mark.requirement("M9", "M24")
async def test_another_user_who_goes_on_with_it_is_shown_nothing(
    serve: Serve, begin: Begin
) -> None:
    """Field fault 48."""
    url = await serve()
    ana = await begin(url)
    await ana.remember(*FACTS)
    await ana.say(user(QUESTIONS[0]))
    ben = await begin(url, "sk-ben")
    ben.history = ana.history
    sent = await ben.say(user(QUESTIONS[1]))
    assert b"<memory>" not in sent.body


@pytest.mark.requirement("M24")
async def test_a_cache_breakpoint_of_the_client_stays_before_the_block(chat: Chat) -> None:
    mark = {"type": "ephemeral"}
    part = {"type": "text", "text": QUESTIONS[0], "cache_control": mark}
    sent = await chat.say({"role": "user", "content": [part]})
    said, block = sent.json()["messages"][1]["content"]
    assert said == part
    assert "cache_control" not in block
    chat.history[1] = user(QUESTIONS[0])
    after = await chat.say({"role": "user", "content": [part | {"text": QUESTIONS[1]}]})
    assert after.json()["messages"][1]["content"].endswith(block["text"])


@pytest.mark.requirement("M24")
async def test_only_the_current_turn_where_that_is_configured(serve: Serve, begin: Begin) -> None:
    chat = await begin(await serve(recall={"placement": "current_turn"}))
    await chat.remember(*FACTS)
    for question in QUESTIONS[:2]:
        sent = await chat.say(user(question))
    marked = ["<memory>" in text for text in texts(sent)]
    assert marked == [False, False, False, True]


async def listed(chat: Chat) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((await chat.http.get("/v1/memory")).text)["data"]
    return found
