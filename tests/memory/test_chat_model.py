from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import RejectedError, UpstreamError
from app.memory import chat_model
from app.memory.chat_model import ChatModel, Said, as_data, message, said
from app.ports import Outgoing, Reply, Socket, Upstream
from tests.scripted import completion

SENT: dict[str, Any] = {"temperature": 0, "max_tokens": 400, "response_format": {}}


class Scripted:
    """Gives these answers, in this order; an error is raised."""

    def __init__(self, *answers: tuple[int, bytes] | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[Outgoing] = []
        self.closed = 0

    async def send(self, request: Outgoing) -> Reply:
        self.asked.append(request)
        await asyncio.sleep(0)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        status, body = answer
        return Reply(status, (), self._chunks(body), self._close)

    async def connect(self, request: Outgoing, subprotocols: Sequence[str]) -> tuple[Socket, str]:
        raise NotImplementedError

    async def everyone(self, request: Outgoing) -> list[Reply]:
        raise NotImplementedError

    async def _chunks(self, body: bytes) -> AsyncIterator[bytes]:
        yield body[:5]
        yield body[5:]

    def _close(self) -> None:
        self.closed += 1

    def sent(self) -> list[Any]:
        return [json.loads(bytes(request.body)) for request in self.asked]  # type: ignore[arg-type]


def ok(text: str) -> tuple[int, bytes]:
    return 200, json.dumps(completion(text)).encode()


def model(upstream: Upstream) -> ChatModel:
    return ChatModel(upstream, "small", "ours", SENT)


ASKED = [message("user", "XX")]


async def test_it_asks_by_itself_with_nothing_of_any_client() -> None:
    upstream = Scripted(ok("Yes."))
    assert await model(upstream).ask(ASKED) == Said("ok", "Yes.", "stop")
    (request,) = upstream.asked
    assert (request.model, request.wanted, request.ours) == ("small", "ours", True)
    assert {name for name, _ in request.headers} == {
        b"content-type",
        b"accept",
        b"accept-encoding",
        b"user-agent",
    }
    assert upstream.sent() == [{"model": "small", "messages": ASKED, **SENT}]
    assert upstream.closed == 1


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ((500, b"{}"), "failed"),
        ((429, b"max_tokens"), "refused"),
        ((400, b"no"), "refused"),
        ((302, b""), "refused"),
        (UpstreamError(502, "upstream_broken", "broke off", "x"), "unreachable"),
        (RejectedError(404, "The model is served by no upstream."), "unreachable"),
    ],
)
async def test_it_says_how_it_went(answer: tuple[int, bytes] | Exception, outcome: str) -> None:
    upstream = Scripted(answer)
    assert await model(upstream).ask(ASKED) == Said(outcome)
    assert len(upstream.asked) == 1


async def test_what_was_refused_once_is_left_out_also_of_calls_at_the_same_time() -> None:
    told = b"'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    upstream = Scripted((400, told), (400, told), ok("one"), ok("two"), ok("three"))
    asked = model(upstream)
    both = await asyncio.gather(asked.ask(ASKED), asked.ask(ASKED))
    assert [one.text for one in both] == ["one", "two"]
    assert (await asked.ask(ASKED)).text == "three"
    limits = [(b.get("max_tokens"), b.get("max_completion_tokens")) for b in upstream.sent()]
    assert limits == [(400, None), (400, None), (None, 400), (None, 400), (None, 400)]


async def test_an_endless_answer_is_read_no_further() -> None:
    upstream = Scripted((200, b" " * (chat_model.MAX_ANSWER_BYTES + 10) + ok("late")[1]))
    assert await model(upstream).ask(ASKED) == Said("ok")
    assert upstream.closed == 1


@pytest.mark.requirement("M28")
@pytest.mark.parametrize(
    ("complaint", "left"),
    [
        ("Unsupported value: 'temperature' does not support 0", {"max_tokens", "response_format"}),
        ('{"error": {"param": "response_format"}}', {"temperature", "max_tokens"}),
        ("structured outputs are not enabled", {"temperature", "max_tokens"}),
        ("max_tokens and temperature: extra inputs", {"response_format"}),
        ("the model is overloaded", {"temperature", "max_tokens", "response_format"}),
    ],
)
def test_what_an_upstream_names_is_left_out(complaint: str, left: set[str]) -> None:
    assert chat_model.accepted(SENT, complaint).keys() == left


def test_a_limit_by_another_name_stays_a_limit() -> None:
    told = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    left = chat_model.accepted(SENT, told)
    assert left["max_completion_tokens"] == 400
    assert "max_tokens" not in left
    assert "max_completion_tokens" not in chat_model.accepted(left, "max_completion_tokens: no")


def test_the_model_can_be_renamed_on_the_way() -> None:
    body = chat_model.renamed(chat_model.body("mine", [], {"temperature": 0}), "theirs")
    assert json.loads(body) == {"model": "theirs", "messages": [], "temperature": 0}


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"[]",
        b'{"choices": []}',
        b'{"choices": [[]]}',
        b'{"choices": [{"message": {"content": null}}]}',
        b"\xff",
        b"[" * 100_000,
    ],
)
def test_what_is_no_completion_has_no_text(answer: bytes) -> None:
    assert said(answer) == Said("ok")


@given(st.binary() | st.text(alphabet='{}[]",: choicesmg').map(str.encode))
def test_no_answer_makes_it_raise(answer: bytes) -> None:
    assert said(answer).outcome == "ok"


def test_what_was_thought_aloud_and_what_was_said_are_no_repr() -> None:
    answer = json.dumps(completion("<think>XX, or?</think>XX yes")).encode()
    assert said(answer).text == "XX yes"
    assert "XX" not in repr(said(answer))


@pytest.mark.parametrize("fence", ["</message>", "< / MESSAGE >", "<known>", "</earlier>"])
def test_nothing_inside_opens_or_closes_a_fence(fence: str) -> None:
    assert as_data(f"a < b, {fence}") == f"a < b, &lt;{fence[1:]}"
