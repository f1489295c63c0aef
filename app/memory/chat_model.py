"""A chat model of a configured upstream, asked by Remora itself for a short text.

It is asked with the operator's credentials alone: a client's key opens nothing here.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import orjson

from app.errors import RejectedError, UpstreamError
from app.ports import Outgoing, Upstream

if TYPE_CHECKING:
    from app.ports import Reply

Message = dict[str, str]
Parameters = dict[str, Any]

MAX_ANSWER_BYTES: Final = 262_144
MAX_COMPLAINT_BYTES: Final = 4_096
ATTEMPTS: Final = 2
_HEADERS: Final = (
    (b"content-type", b"application/json"),
    (b"accept", b"application/json"),
    (b"accept-encoding", b"identity"),
    (b"user-agent", b"remora"),
)
_COMPLAINTS: Final = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})
# How upstreams name what they do not take.
_NAMES: Final = {
    "response_format": re.compile(
        r"response_format|json_schema|structured output|grammar", re.IGNORECASE
    ),
    "temperature": re.compile(r"temperature", re.IGNORECASE),
    "max_tokens": re.compile(r"max_tokens", re.IGNORECASE),
    "max_completion_tokens": re.compile(r"max_completion_tokens", re.IGNORECASE),
}
# The tags that hold data in our prompts: nothing inside may open or close one, however it is
# spaced or cased.
_FENCE: Final = re.compile(r"<(?=\s*/?\s*(?:message|known|earlier))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Said:
    """What came of asking: `ok`, `refused`, `failed` or `unreachable`.

    If it is ok: the text ("" if the answer is no chat completion), and the `finish_reason`.
    """

    outcome: str
    text: str = field(default="", repr=False)
    finish: str = ""


class ChatModel:
    """One model, under the name that clients know, of the upstream `wanted` or that serves it.

    What its upstream once refused to take is not sent to it again while the process lives.
    """

    def __init__(
        self, upstream: Upstream, model: str, wanted: str | None, parameters: Parameters
    ) -> None:
        self._upstream = upstream
        self._model = model
        self._wanted = wanted
        self._parameters = parameters

    async def ask(self, conversation: list[Message]) -> Said:
        """The answer; takes as long as the upstream does, and raises nothing of it."""
        try:
            status, answer = await self._taken(conversation)
        except (UpstreamError, RejectedError):
            return Said("unreachable")
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return Said("failed")
        return Said("refused") if status >= HTTPStatus.MULTIPLE_CHOICES else said(answer)

    async def _taken(self, conversation: list[Message]) -> tuple[int, bytes]:
        """The answer, with at most one more attempt without the parameters that were refused."""
        status, answer = 0, b""
        for _ in range(ATTEMPTS):
            sent = self._parameters
            status, answer = await self._sent(conversation, sent)
            if status not in _COMPLAINTS:
                break
            left = accepted(sent, answer[:MAX_COMPLAINT_BYTES].decode("utf-8", "replace"))
            if left == sent:
                break
            self._parameters = left
        return status, answer

    async def _sent(self, conversation: list[Message], sent: Parameters) -> tuple[int, bytes]:
        request = Outgoing(
            method="POST",
            path=b"/v1/chat/completions",
            query=b"",
            headers=_HEADERS,
            body=body(self._model, conversation, sent),
            model=self._model,
            wanted=self._wanted,
            rename=renamed,
            ours=True,
        )
        reply = await self._upstream.send(request)
        try:
            return reply.status, await _read(reply)
        finally:
            reply.close()


def message(role: str, content: str) -> Message:
    """One message of a conversation to send."""
    return {"role": role, "content": content}


def as_data(text: str) -> str:
    """The text as it may stand inside one of our fences."""
    return _FENCE.sub("&lt;", text)


def body(model: str, conversation: list[Message], sent: Parameters) -> bytes:
    """The request's bytes."""
    return json.dumps({"model": model, "messages": conversation, **sent}).encode()


def renamed(body: bytes, model: str) -> bytes:
    """The request under the name that an upstream has for the model."""
    return json.dumps({**json.loads(body), "model": model}).encode()


def accepted(sent: Parameters, complaint: str) -> Parameters:
    """The parameters without those that an upstream's error names; all of them if it names none."""
    kept = {name: value for name, value in sent.items() if not _NAMES[name].search(complaint)}
    other_name = "max_tokens" in sent and _NAMES["max_completion_tokens"].search(complaint)
    return kept | ({"max_completion_tokens": sent["max_tokens"]} if other_name else {})


def said(answer: bytes) -> Said:
    """The text of a chat completion, without what the model thought aloud."""
    try:
        choice = orjson.loads(answer)["choices"][0]
        text, finish = choice["message"]["content"], choice.get("finish_reason")
    except (ValueError, LookupError, TypeError, AttributeError):
        return Said("ok")
    text = text.rpartition("</think>")[2] if isinstance(text, str) else ""
    return Said("ok", text, finish if isinstance(finish, str) else "")


async def _read(reply: Reply) -> bytes:
    """The answer, or as much of it as anybody would read."""
    answer = b""
    async for chunk in reply.chunks:
        answer += chunk
        if len(answer) > MAX_ANSWER_BYTES:
            break
    return answer[:MAX_ANSWER_BYTES]
