"""Listening to a chat answer, whole or streamed, without touching it.

Nothing is parsed while bytes pass: chunks are kept by reference and read after the last one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import orjson

from app.dialects.encoding import decoded
from app.domain import Answer

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_COLLECTED: Final = 8 * 1024 * 1024
_TAIL: Final = 48
_DONE: Final = re.compile(rb"(?:\A|[\r\n])data: ?\[DONE\]\s*\Z")
_UNTAUGHT: Final = frozenset({"content_filter", "error"})


class ChatReader:
    """`app.ports.ReplyReader` for both forms of a chat answer."""

    def __init__(self, content_type: str, encoding: str = "") -> None:
        self._streamed = content_type.partition(";")[0].strip().lower() == "text/event-stream"
        self._encoding = encoding
        self._chunks: list[bytes] = []
        self._size = 0
        self._tail = b""
        self._done = False

    def feed(self, chunk: bytes) -> bool:
        self._size += len(chunk)
        if self._size <= MAX_COLLECTED:
            self._chunks.append(chunk)
        if self._streamed:
            self._tail = (self._tail + chunk[-_TAIL:])[-_TAIL:]
            self._done = self._done or (chunk != b"" and _DONE.search(self._tail) is not None)
        return self._done

    def finish(self) -> Answer:
        if self._size > MAX_COLLECTED:
            return Answer(complete=self._done or not self._streamed)
        body = decoded(b"".join(self._chunks), self._encoding)
        if body is None:  # an encoding we cannot read: the transfer ended, that is all we know
            return Answer(complete=True)
        return _streamed(body, done=self._done) if self._streamed else _whole(body)


def _whole(body: bytes) -> Answer:
    reply = _parsed(body)
    choice = _first(reply.get("choices"))
    message = choice.get("message")
    if not isinstance(message, dict) or reply.get("error"):
        return Answer()
    finish = choice.get("finish_reason")
    return _answer([_plain(message.get("content"))], finish, refused=bool(message.get("refusal")))


def _streamed(body: bytes, *, done: bool) -> Answer:
    texts: list[str] = []
    finish: Any = None
    refused = failed = False
    for event in _events(body):
        failed = failed or bool(event.get("error"))
        choice = _first(event.get("choices"))
        delta = choice.get("delta")
        if isinstance(delta, dict):
            texts.append(_plain(delta.get("content")))
            refused = refused or bool(delta.get("refusal"))
        finish = choice.get("finish_reason") or finish
    if failed:
        return Answer()
    return _answer(texts, finish or ("stop" if done else None), refused=refused)


def _answer(texts: Iterable[str], finish: object, *, refused: bool) -> Answer:
    reason = finish if isinstance(finish, str) else None
    complete = reason is not None and reason not in _UNTAUGHT and not refused
    return Answer("".join(texts), complete, "refusal" if refused else reason)


def _events(body: bytes) -> Iterable[dict[str, Any]]:
    """The JSON objects of an event stream (WHATWG HTML, "Server-sent events")."""
    lines = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    data: list[bytes] = []
    for line in (*lines, b""):
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif not line and data:
            yield _parsed(b"\n".join(data))
            data = []


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _first(choices: object) -> dict[str, Any]:
    """The choice with index 0."""
    if isinstance(choices, list):
        for choice in choices:
            if isinstance(choice, dict) and not choice.get("index"):
                return choice
    return {}


def _plain(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [p.get("text") for p in content if isinstance(p, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return ""
