"""The client's side of one call: its body as it comes, and whether it is still there."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from app.errors import RejectedError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from starlette.types import Message, Receive, Send

# Most calls end sooner; a watcher costs ten times what a timer does.
WATCH_AFTER: Final = 0.02
LIMIT: Final = 100 * 1_048_576


class ClientGoneError(Exception):
    """The client left while its body was being read."""


class Client:
    """Reads from and writes to one ASGI connection."""

    def __init__(
        self, receive: Receive, send: Send, limit: int = LIMIT, idle: float | None = None
    ) -> None:
        self._receive = receive
        self._send = send
        self._idle = idle
        self._read = asyncio.Event()
        self._finished = False
        self.limit = limit
        self.gone = False
        self.started = False
        self.refused: RejectedError | None = None

    def expects_no_body(self) -> None:
        """Nothing will come but a disconnect."""
        self._read.set()

    async def body(self) -> bytes:
        """The whole body; raises `RejectedError` past the limit (413) or after a pause (408)."""
        parts = [part async for part in self.stream()]
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def stream(self) -> AsyncIterator[bytes]:
        """The body in pieces as they come.

        Whoever sends them on may wrap what is raised here; `gone` and `refused` tell what it was.
        """
        size = 0
        more = True
        while more:
            message = await self._next()
            part = message.get("body", b"")
            size += len(part)
            if size > self.limit:
                raise self._refuse(too_large(self.limit))
            more = message.get("more_body", False)
            if not more:
                self._read.set()
            if part:
                yield part

    async def _next(self) -> Message:
        try:
            async with asyncio.timeout(self._idle):
                message = await self._receive()
        except TimeoutError:
            raise self._refuse(too_slow()) from None
        if message["type"] == "http.disconnect":
            self.gone = True
            self._read.set()  # an answer may have begun already: the watcher ends it
            raise ClientGoneError
        return message

    def _refuse(self, error: RejectedError) -> RejectedError:
        self.refused = error
        return error

    def watched(self) -> Watch:
        """Cancel what runs inside as soon as the client leaves, once its body has been read.

        Leaves quietly then, with `gone` set: a cancelled clean-up is how leaks begin.
        """
        return Watch(self._left, asyncio.current_task())

    async def _left(self) -> bool:
        """Once the client has left; whether there was still something to send it."""
        await self._read.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.gone = not self._finished
        return self.gone

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


class Watch:
    """Cancels its task once `left` says so, and swallows that cancellation."""

    def __init__(
        self, left: Callable[[], Awaitable[bool]], task: asyncio.Task[None] | None
    ) -> None:
        self._left = left
        self._task = task
        self._cancelled = False
        self._watcher: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(WATCH_AFTER, self._begin)

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        self._timer.cancel()
        if self._watcher is not None:
            self._watcher.cancel()
        cancelled = self._cancelled and kind is asyncio.CancelledError
        return cancelled and self._task is not None and self._task.uncancel() == 0

    def _begin(self) -> None:
        self._watcher = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        if await self._left() and self._task is not None:
            self._cancelled = True
            self._task.cancel()


def too_large(limit: int) -> RejectedError:
    """What a client is told whose body is over the limit."""
    return RejectedError(
        413,
        f"The request body is larger than {limit / 1_048_576:g} MB.",
        code="request_too_large",
    )


def too_slow() -> RejectedError:
    """What a client is told that stopped sending in the middle of its body."""
    return RejectedError(408, "The request body did not come to its end.", code="request_timeout")
