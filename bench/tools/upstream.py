"""A fast fake upstream: a static chat answer, or with `"stream": true` fifty chunks.

Chunks come at once, or one each 5 ms with its time of sending if the word `paced` is in the body,
or only the first if it is `idle`. Run as a program it prints its port.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from typing import cast

import uvloop

CHUNKS = 50
PACE = 0.005
ANSWER = json.dumps(
    {
        "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
        "object": "chat.completion",
        "created": 1741569952,
        "model": "gpt-4.1-2025-04-14",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "Hello! How can I assist you today?",
                    "refusal": None,
                },
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 19, "completion_tokens": 10, "total_tokens": 29},
    }
).encode()
WHOLE = (
    b"HTTP/1.1 200 OK\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n"
    b"Content-Type: application/json\r\nx-request-id: req_0123456789abcdef\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(ANSWER), ANSWER)
)
HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
    b"Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"
)


def _event(delta: dict[str, str], finish: str | None, **fields: object) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    event = {
        "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
        "object": "chat.completion.chunk",
        "created": 1741569952,
        "model": "gpt-4.1-2025-04-14",
        "system_fingerprint": "fp_44709d6fcb",
        "choices": [choice],
        **fields,
    }
    return _chunk(b"data: " + json.dumps(event).encode() + b"\n\n")


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


EVENTS = [_event({"content": f"word{n} "}, None) for n in range(CHUNKS)]
TAIL = _event({}, "stop") + _chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n"


class Upstream(asyncio.Protocol):
    """One connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.Transport", transport)
        self._seen = b""

    def data_received(self, data: bytes) -> None:
        """Answer each whole request."""
        self._seen += data
        while (end := self._seen.find(b"\r\n\r\n")) >= 0:
            head = self._seen[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self._seen) < end + 4 + length:
                return
            body = self._seen[end + 4 : end + 4 + length]
            self._seen = self._seen[end + 4 + length :]
            self._answer(body)

    def _answer(self, body: bytes) -> None:
        if b'"stream": true' not in body:
            self._transport.write(WHOLE)
        elif b"idle" in body:
            self._transport.write(HEAD + EVENTS[0])
        elif b"paced" in body:
            self._transport.write(HEAD)
            self._pace(0)
        else:
            for part in (HEAD, *EVENTS, TAIL):
                self._transport.write(part)

    def _pace(self, place: int) -> None:
        if place == CHUNKS:
            self._transport.write(TAIL)
        elif not self._transport.is_closing():
            event = _event({"content": "word "}, None, sent=time.monotonic_ns())
            self._transport.write(event)
            asyncio.get_running_loop().call_later(PACE, self._pace, place + 1)


async def main() -> None:
    """Serve on a free port until the process is ended."""
    server = await asyncio.get_running_loop().create_server(Upstream, "127.0.0.1", 0, backlog=2048)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        os.sched_setaffinity(0, {int(sys.argv[1])})
    uvloop.run(main())
