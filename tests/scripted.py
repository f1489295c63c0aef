"""An upstream that records the bytes it gets and answers with whatever bytes a test wants, when.

One asyncio server on a free loopback port; requests are parsed by h11, answers are raw.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import h11

Answer = AsyncIterator[bytes] | bytes
Script = Callable[["Recorded"], Answer]


@dataclass(slots=True)
class Recorded:
    """One request as it arrived."""

    method: str
    target: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes = b""
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    def json(self) -> Any:
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        found = [v for k, v in self.headers if k.lower() == name.lower().encode()]
        return found[0].decode() if found else None

    @property
    def last_user_text(self) -> str:
        """The text of the last user turn in a chat request."""
        turns = [m for m in self.json()["messages"] if m["role"] == "user"]
        content = turns[-1]["content"]
        return content if isinstance(content, str) else content[-1]["text"]


def completion(text: str = "Noted.", finish: str = "stop") -> dict[str, Any]:
    """A whole chat answer."""
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def http(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    """A whole HTTP answer with a length."""
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    if not any(h.lower().startswith("content-type") for h in headers):
        head.append("Content-Type: application/json")
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def chunked(data: bytes) -> bytes:
    """One chunk of a chunked body."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def events(*texts: str) -> list[bytes]:
    """A streamed chat answer, one event a text, with its end."""
    deltas: list[tuple[dict[str, str], str | None]] = [({"content": t}, None) for t in texts]
    deltas.append(({}, "stop"))
    lines = []
    for delta, finish in deltas:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        event = {"id": "c", "object": "chat.completion.chunk", "choices": [choice]}
        lines.append(b"data: " + json.dumps(event).encode() + b"\n\n")
    return [*lines, b"data: [DONE]\n\n"]


async def stream(parts: list[bytes], pause: float = 0.0) -> AsyncIterator[bytes]:
    """An event stream in chunks."""
    yield (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    for part in parts:
        await asyncio.sleep(pause)
        yield chunked(part)
    yield b"0\r\n\r\n"


def usual(request: Recorded) -> Answer:
    """What most tests want: a chat answer, streamed if that was asked for."""
    asked = json.loads(request.body) if request.body.startswith(b"{") else {}
    if asked.get("stream"):
        return stream(events("Not", "ed."))
    return http(json.dumps(completion()).encode())


class ScriptedUpstream:
    """Set `script` to change what it answers."""

    def __init__(self) -> None:
        self.requests: list[Recorded] = []
        self.script: Script = usual
        self.connections = 0
        self.tasks: set[asyncio.Task[None]] = set()
        self.url = ""

    @property
    def last(self) -> Recorded:
        return self.requests[-1]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        if (task := asyncio.current_task()) is not None:
            self.tasks.add(task)
        connection = h11.Connection(h11.SERVER)
        try:
            while (request := await _request(connection, reader, writer)) is not None:
                self.requests.append(request)
                if not await self._answer(request, reader, writer):
                    break
                connection = h11.Connection(h11.SERVER)
        except (ConnectionError, asyncio.CancelledError, h11.RemoteProtocolError):
            pass
        finally:
            writer.close()

    async def _answer(
        self, request: Recorded, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        answer = self.script(request)
        watch = asyncio.create_task(_closed(reader, request))
        try:
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                async for part in answer:
                    writer.write(part)
                    await writer.drain()
        finally:
            watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watch
        return not request.closed.is_set()


async def _request(
    connection: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> Recorded | None:
    recorded: Recorded | None = None
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            if connection.they_are_waiting_for_100_continue:
                writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                connection.send(h11.InformationalResponse(status_code=100, headers=[]))
            connection.receive_data(await reader.read(65536))
        elif isinstance(event, h11.Request):
            headers = event.headers.raw_items()
            recorded = Recorded(event.method.decode(), bytes(event.target), headers)
        elif isinstance(event, h11.Data) and recorded is not None:
            recorded.body += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            return recorded
        else:
            return None


async def _closed(reader: asyncio.StreamReader, request: Recorded) -> None:
    """Notice when the other side goes away while an answer is being written."""
    with contextlib.suppress(ConnectionError):
        if not await reader.read(1):
            request.closed.set()
            return
    request.closed.set()


@asynccontextmanager
async def scripted_upstream() -> AsyncIterator[ScriptedUpstream]:
    """A running scripted upstream; `url` is its base URL with /v1."""
    upstream = ScriptedUpstream()
    server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    upstream.url = f"http://127.0.0.1:{port}/v1"
    try:
        yield upstream
    finally:
        server.close()
        for task in upstream.tasks:
            task.cancel()
        await asyncio.gather(*upstream.tasks, return_exceptions=True)
