"""The client's side of one call: its body as it comes, and whether it is still there."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from app.errors import RejectedError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from starlette.types import Receive, Send

# Most calls end sooner; a watcher costs ten times what a timer does.
WATCH_AFTER: Final = 0.02


class ClientGoneError(Exception):
    """The client left while its body was being read."""


class Client:
    """Reads from and writes to one ASGI connection."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._read = asyncio.Event()
        self._finished = False
        self.gone = False
        self.started = False
        self.refused: RejectedError | None = None

    async def body(self, limit: int) -> bytes:
        """The whole body; raises `RejectedError` (413) past `limit` bytes."""
        parts = [part async for part in self.stream(limit)]
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def stream(self, limit: int) -> AsyncIterator[bytes]:
        """The body in pieces as they come.

        Whoever sends them on may wrap what is raised here; `gone` and `refused` tell what it was.
        """
        size = 0
        more = True
        while more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self.gone = True
                raise ClientGoneError
            part = message.get("body", b"")
            size += len(part)
            if size > limit:
                self.refused = too_large(limit)
                raise self.refused
            more = message.get("more_body", False)
            if not more:
                self._read.set()
            if part:
                yield part

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Cancel what runs inside as soon as the client leaves, once its body has been read.

        Leaves quietly then, with `gone` set: a cancelled clean-up is how leaks begin.
        """
        task = asyncio.current_task()
        watchers: list[asyncio.Task[None]] = []

        async def watch() -> None:
            await self._read.wait()
            while (await self._receive())["type"] != "http.disconnect":
                pass
            if not self._finished and task is not None:
                self.gone = True
                task.cancel()

        loop = asyncio.get_running_loop()
        timer = loop.call_later(WATCH_AFTER, lambda: watchers.append(loop.create_task(watch())))
        try:
            yield
        except asyncio.CancelledError:
            if not self.gone or task is None or task.uncancel() > 0:
                raise
        finally:
            timer.cancel()
            for watcher in watchers:
                watcher.cancel()

    async def start(self, status: int, headers: Sequence[tuple[bytes, bytes]]) -> None:
        """Send the head of the answer."""
        self.started = True
        await self._send(
            {"type": "http.response.start", "status": status, "headers": list(headers)}
        )

    async def write(self, chunk: bytes) -> None:
        """Send a piece of the answer; waits while the client is slow."""
        await self._send({"type": "http.response.body", "body": chunk, "more_body": True})

    async def finish(self, chunk: bytes = b"") -> None:
        """Send the last piece."""
        self._finished = True
        await self._send({"type": "http.response.body", "body": chunk, "more_body": False})


def too_large(limit: int) -> RejectedError:
    """What a client is told whose body is over the limit."""
    return RejectedError(
        413,
        f"The request body is larger than {limit / 1_048_576:g} MB.",
        code="request_too_large",
    )
