"""Streams under measurement: how late a chunk is, and streams that are only held open."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import time
from typing import TYPE_CHECKING, cast

import uvloop

from bench.tools.load import request

if TYPE_CHECKING:
    from collections.abc import Iterator

# The upstream puts the time of sending into each paced chunk; one clock serves all processes.
_SENT = re.compile(rb'"sent": (\d+)')


class Listener(asyncio.Protocol):
    """One connection; notes how long each chunk was on its way, in milliseconds."""

    def __init__(self, message: bytes, end: float) -> None:
        self._message = message
        self._end = end
        self._tail = b""
        self.delays: list[float] = []
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(self._message)

    def data_received(self, data: bytes) -> None:
        """Note the delays; ask again at the end of a stream."""
        now = time.monotonic_ns()
        self.delays += [(now - int(sent)) / 1e6 for sent in _SENT.findall(data)]
        self._tail = (self._tail + data)[-5:]
        if self._tail != b"0\r\n\r\n":
            return
        self._tail = b""
        if time.monotonic() < self._end:
            self._transport.write(self._message)
        else:
            self._transport.close()

    def connection_lost(self, _: Exception | None) -> None:
        """The run is over."""
        if not self.done.done():
            self.done.set_result(None)


def delays(
    port: int, body: bytes, *headers: str, connections: int = 16, seconds: float = 2.0
) -> tuple[float, float]:
    """Milliseconds from the sending of a chunk to its receipt, p50 and p99, over all streams."""
    seen = uvloop.run(_delays(port, request(port, body, *headers), connections, seconds))
    return seen[len(seen) // 2], seen[int(len(seen) * 0.99)]


async def _delays(port: int, message: bytes, connections: int, seconds: float) -> list[float]:
    loop = asyncio.get_running_loop()
    end = time.monotonic() + seconds
    listeners = []
    for _ in range(connections):
        _, listener = await loop.create_connection(
            lambda: Listener(message, end), "127.0.0.1", port
        )
        listeners.append(listener)
        await asyncio.sleep(0.005 / connections)
    await asyncio.gather(*(listener.done for listener in listeners))
    return sorted(delay for listener in listeners for delay in listener.delays)


@contextlib.contextmanager
def held(port: int, body: bytes, header: str, count: int) -> Iterator[None]:
    """That many streams, each past its first chunk, until the end of the block."""
    message = request(port, body, header)
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            stream = stack.enter_context(socket.create_connection(("127.0.0.1", port), 10))
            stream.sendall(message)
            seen = b""
            while b"data: " not in seen:
                seen += stream.recv(65_536) or _broken()
        yield


def _broken() -> bytes:
    raise SystemExit("an idle stream broke off")
