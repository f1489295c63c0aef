"""A closed-loop load generator: a connection sends its next request once the last is answered."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import uvloop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATH = "/v1/chat/completions"
WARMUP = 0.5


@dataclass(slots=True)
class Result:
    """What a run saw; latencies in milliseconds, sorted."""

    seconds: float
    latencies: list[float] = field(default_factory=list)
    errors: int = 0

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.latencies) / self.seconds

    def percentile(self, share: float) -> float:
        """The latency that this share of all answers does not exceed."""
        if not self.latencies:
            return float("nan")
        return self.latencies[min(int(len(self.latencies) * share), len(self.latencies) - 1)]


def request(port: int, body: bytes, *headers: str) -> bytes:
    """A whole POST."""
    head = [
        f"POST {PATH} HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *headers,
    ]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


class Client(asyncio.Protocol):
    """One connection of the load."""

    def __init__(self, result: Result, bodies: Callable[[], bytes], until: list[float]) -> None:
        self._result = result
        self._next = bodies
        self._until = until
        self._seen = bytearray()
        self._sent = 0.0
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the first request."""
        self._transport = cast("asyncio.Transport", transport)
        self._send()

    def data_received(self, data: bytes) -> None:
        """Collect an answer; at its end count it and send the next request."""
        self._seen += data
        if not _complete(self._seen):
            return
        now = time.perf_counter()
        warm, end = self._until
        if not self._seen.startswith(b"HTTP/1.1 200"):
            self._result.errors += 1
        elif now >= warm:
            self._result.latencies.append((now - self._sent) * 1000)
        self._seen.clear()
        if now < end:
            self._send()
        else:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """The run is over, or the other side broke off."""
        if exc is not None or time.perf_counter() < self._until[1]:
            self._result.errors += 1
        if not self.done.done():
            self.done.set_result(None)

    def _send(self) -> None:
        self._sent = time.perf_counter()
        self._transport.write(self._next())


def _complete(seen: bytearray) -> bool:
    end = seen.find(b"\r\n\r\n")
    if end < 0:
        return False
    head = bytes(seen[:end]).lower()
    at = head.find(b"content-length:")
    if at >= 0:
        return len(seen) >= end + 4 + int(head[at + 15 :].split(b"\r\n", 1)[0])
    return seen.endswith(b"0\r\n\r\n")


def run(
    port: int,
    bodies: Iterator[bytes],
    *headers: str,
    connections: int = 1,
    seconds: float = 2.0,
) -> Result:
    """Load `port` for a while, after a moment that does not count; the next body each time."""
    requests = (request(port, body, *headers) for body in bodies)
    return uvloop.run(_run(port, lambda: next(requests), connections, seconds))


async def _run(port: int, bodies: Callable[[], bytes], connections: int, seconds: float) -> Result:
    result = Result(seconds)
    start = time.perf_counter()
    until = [start + WARMUP, start + WARMUP + seconds]
    loop = asyncio.get_running_loop()
    clients = []
    for _ in range(connections):
        _, client = await loop.create_connection(
            lambda: Client(result, bodies, until), "127.0.0.1", port
        )
        clients.append(client)
    await asyncio.gather(*(client.done for client in clients))
    result.latencies.sort()
    return result
