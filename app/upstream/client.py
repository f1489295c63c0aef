"""Sends a request to the upstream that serves its model and gives back an unread reply.

Once, unless the operator configured retries or fallbacks (G10, G19); and then only while nothing
of an answer has gone to the client.
"""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING, cast

import httpx
import structlog

from app.errors import RejectedError, UpstreamError
from app.ports import Reply
from app.upstream.backoff import pause
from app.upstream.headers import returned
from app.upstream.request import build
from app.upstream.targets import Routes
from app.upstream.transport import RefusedError, TlsError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from app.ports import Outgoing, Socket
    from app.upstream.targets import Target

    Dial = Callable[[httpx.Request, Sequence[str]], Awaitable[Socket]]

_log = structlog.get_logger()


class HttpUpstream:
    """`app.ports.Upstream` over any httpx transport, and `dial` for WebSockets."""

    def __init__(
        self, targets: Sequence[Target], transport: httpx.AsyncBaseTransport, dial: Dial
    ) -> None:
        self._routes = Routes(targets)
        self._transport = transport
        self._dial = dial

    def reload(self, targets: Sequence[Target]) -> None:
        """Take the upstreams as they are now, say with other keys."""
        self._routes = Routes(targets)

    async def connect(self, request: Outgoing, subprotocols: Sequence[str]) -> tuple[Socket, str]:
        target = self._routes.chain(request.model, request.wanted)[0]
        try:
            return await self._dial(build(target, request), subprotocols), target.name
        except RefusedError as error:
            message = f"The upstream '{target.name}' refused the WebSocket."
            raise RejectedError(error.status, message, code="websocket_refused") from error
        except httpx.TransportError as error:
            raise explain(error, target.name) from error

    async def send(self, request: Outgoing) -> Reply:
        chain = self._routes.chain(request.model, request.wanted, ours=request.ours)
        if not isinstance(request.body, bytes):  # a stream can be sent once
            return await self._once(chain[0], request)
        for target in chain[:-1]:
            try:
                reply = await self._tried(target, request)
            except UpstreamError as error:
                _log.warning("fallback", upstream=target.name, reason=error.code)
                continue
            if reply.status not in target.retry.statuses:
                return reply
            reply.close()
            _log.warning("fallback", upstream=target.name, reason=reply.status)
        return await self._tried(chain[-1], request)

    async def everyone(self, request: Outgoing) -> list[Reply]:
        answers = await asyncio.gather(
            *(self._once(target, request) for target in self._routes.targets),
            return_exceptions=True,
        )
        replies = [answer for answer in answers if isinstance(answer, Reply)]
        errors = [answer for answer in answers if isinstance(answer, BaseException)]
        if not replies and errors:
            raise errors[0]
        return replies

    async def _tried(self, target: Target, request: Outgoing) -> Reply:
        """One upstream, as often as its operator wants, within its deadline."""
        retry = target.retry
        deadline = monotonic() + retry.seconds
        for attempt in range(retry.times):
            reply: Reply | None = None
            try:
                reply = await self._once(target, request)
            except UpstreamError as error:
                reason: str | int = error.code
            else:
                if reply.status not in retry.statuses:
                    return reply
                reason = reply.status
            seconds = pause(attempt, reply.headers if reply else ())
            if monotonic() + seconds > deadline:
                if reply is not None:
                    return reply
                break
            if reply is not None:
                reply.close()
            _log.warning("retry", upstream=target.name, reason=reason, seconds=round(seconds, 2))
            await asyncio.sleep(seconds)
        return await self._once(target, request)

    async def _once(self, target: Target, request: Outgoing) -> Reply:
        try:
            answer = await self._transport.handle_async_request(build(target, request))
        except httpx.TransportError as error:
            raise explain(error, target.name) from error
        stream = cast("httpx.AsyncByteStream", answer.stream)
        return Reply(
            status=answer.status_code,
            headers=returned(answer.headers.raw),
            chunks=_chunks(stream, target.name),
            close=getattr(stream, "close", _nothing_to_close),
            upstream=target.name,
        )


def explain(error: httpx.TransportError, name: str) -> UpstreamError:
    """What a client is told: which upstream and what happened, not its address or key (G11)."""
    status, code, what = 502, "upstream_broken", "broke off"
    if isinstance(error, httpx.TimeoutException):
        status, code, what = 504, "upstream_timeout", "did not answer in time"
    elif isinstance(error, TlsError):
        code, what = "upstream_tls", "failed the handshake"
    elif isinstance(error, httpx.ConnectError):
        code, what = "upstream_unreachable", "cannot be reached"
    return UpstreamError(status, code, f"The upstream '{name}' {what}.", name)


def _nothing_to_close() -> None:
    """For streams of a test transport, which hold no connection."""


async def _chunks(stream: httpx.AsyncByteStream, name: str) -> AsyncIterator[bytes]:
    try:
        async for chunk in stream:
            yield chunk
    except httpx.TransportError as error:
        raise explain(error, name) from error
