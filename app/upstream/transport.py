"""httpx's transport seam over aiohttp's connector.

Why not `httpx-aiohttp`: it hands aiohttp a URL to quote again (a path must keep its
percent-encoding, G4), reads every lost connection as a connect timeout, and cannot let go of an
answer without awaiting. Everything else here is aiohttp's: pool, parser, TLS, DNS cache.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from functools import lru_cache, partial
from time import monotonic
from typing import TYPE_CHECKING, Final, cast

import aiohttp
import httpx
import yarl

from app.upstream.sockets import AiohttpSocket

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence
    from types import SimpleNamespace

# Shorter than the 5 s after which many servers close an idle connection themselves.
IDLE_SECONDS: Final = 4.0
# A pooled connection can be closed by the other side while it rests; each may fail once.
MAX_STALE: Final = 4
# Later than this an upstream may have begun to work: then a loss is a loss.
STALE_SECONDS: Final = 0.1
LARGE: Final = 512 * 1024
MAX_MESSAGE: Final = 64 * 1024 * 1024
CLOSE_SECONDS: Final = 5.0
# What every WebSocket connection makes anew.
HANDSHAKE: Final = frozenset(
    f"sec-websocket-{part}" for part in ("key", "version", "extensions", "protocol")
) | {"content-length", "host"}
AUTOMATIC: Final = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")


class TlsError(httpx.ConnectError):
    """The handshake failed: a wrong certificate, say."""


class RefusedError(httpx.TransportError):
    """The upstream answered a WebSocket's handshake with an HTTP status."""

    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}")
        self.status = status


@dataclass(slots=True)
class _Trace:
    """Whether the connection of one request came from the pool."""

    reused: bool = False


class AiohttpTransport(httpx.AsyncBaseTransport):
    """One pool for all upstreams; answers come back unread and unchanged."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        session = self._session or self._open()
        body = _body(request)
        with _mapped():
            answer = await _send(session, request, body)
        return httpx.Response(
            answer.status, headers=list(answer.raw_headers), stream=Unread(answer)
        )

    async def dial(self, request: httpx.Request, subprotocols: Sequence[str]) -> AiohttpSocket:
        """Open a WebSocket (G17); raises `RefusedError` for an HTTP answer, else httpx's errors."""
        session = self._session or self._open()
        headers = [h for h in request.headers.multi_items() if h[0] not in HANDSHAKE]
        try:
            with _mapped():
                async with asyncio.timeout(request.extensions["timeout"].get("connect")):
                    connection = await session.ws_connect(
                        _address(str(request.url)),
                        headers=headers,
                        protocols=subprotocols,
                        max_msg_size=MAX_MESSAGE,
                        timeout=aiohttp.ClientWSTimeout(ws_close=CLOSE_SECONDS),
                    )
        except httpx.RemoteProtocolError as error:
            if isinstance(error.__cause__, aiohttp.WSServerHandshakeError):
                raise RefusedError(error.__cause__.status) from error
            raise
        return AiohttpSocket(connection)

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _open(self) -> aiohttp.ClientSession:
        trace = aiohttp.TraceConfig()
        trace.on_connection_reuseconn.append(_mark_reused)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_SECONDS),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=AUTOMATIC,
            trace_configs=[trace],
            max_line_size=64 * 1024,
            max_field_size=64 * 1024,
        )
        return self._session


class Unread(httpx.AsyncByteStream):
    """The bytes of an answer as they come: whatever one read brought is one chunk."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            with _mapped():
                async for chunk in self._answer.content.iter_any():
                    yield chunk
        except httpx.TransportError:
            self.close()
            raise

    async def aclose(self) -> None:
        self.close()

    def close(self) -> None:
        """Let go at once; an answer that was not read to its end takes its connection with it."""
        self._answer.close()


async def _send(
    session: aiohttp.ClientSession,
    request: httpx.Request,
    body: bytes | AsyncIterator[bytes] | None,
) -> aiohttp.ClientResponse:
    """Send; again on a fresh connection if a pooled one turned out to be dead (RFC 9110, 9.2.2)."""
    timeout = request.extensions.get("timeout", {})
    # How a stream without a length is framed is aiohttp's business.
    headers = [h for h in request.headers.multi_items() if h[0] != "transfer-encoding"]
    for attempt in range(MAX_STALE):
        trace = _Trace()
        send = partial(
            session.request,
            request.method,
            _address(str(request.url)),
            headers=headers,
            allow_redirects=False,
            timeout=_limits(timeout.get("connect"), timeout.get("read")),
            trace_request_ctx=trace,
        )
        began = monotonic()
        try:
            if body is None or (isinstance(body, bytes) and len(body) <= LARGE):
                return await send(data=body)
            async with asyncio.timeout(None) as stall:
                return await send(data=_paced(body, stall, timeout.get("read")))
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
            streamed = body is not None and not isinstance(body, bytes)
            stale = trace.reused and monotonic() - began < STALE_SECONDS
            if not stale or streamed or attempt + 1 == MAX_STALE:
                raise
    raise AssertionError  # pragma: no cover  the last attempt returns or raises


@lru_cache
def _limits(connect: float | None, read: float | None) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=None, sock_connect=connect, sock_read=read)


@lru_cache(maxsize=1024)
def _address(url: str) -> yarl.URL:
    """The URL as it is: aiohttp would quote it again."""
    return yarl.URL(url, encoded=True)


def _paced(
    body: bytes | AsyncIterator[bytes], stall: asyncio.Timeout, seconds: float | None
) -> AsyncIterator[bytes]:
    pieces = _pieces(body) if isinstance(body, bytes) else body
    return pieces if seconds is None else _unstalled(pieces, stall, seconds)


async def _unstalled(
    pieces: AsyncIterator[bytes], stall: asyncio.Timeout, seconds: float
) -> AsyncIterator[bytes]:
    """The pieces; the request times out when the upstream does not take one in so many seconds."""
    loop = asyncio.get_running_loop()
    async for piece in pieces:
        _reschedule(stall, loop.time() + seconds)
        yield piece
        _reschedule(stall, None)


def _reschedule(stall: asyncio.Timeout, when: float | None) -> None:
    """An upstream may answer before it has read all: then nobody waits under this timeout."""
    with contextlib.suppress(RuntimeError):
        stall.reschedule(when)


async def _pieces(body: bytes) -> AsyncIterator[bytes]:
    """A large body a piece at a time, so that the event loop and the socket's buffer stay free."""
    for start in range(0, len(body), LARGE):
        yield body[start : start + LARGE]


def _body(request: httpx.Request) -> bytes | AsyncIterator[bytes] | None:
    try:
        return request.content or None
    except httpx.RequestNotRead:
        return cast("httpx.AsyncByteStream", request.stream).__aiter__()


@contextlib.contextmanager
def _mapped() -> Iterator[None]:
    """Errors of aiohttp as httpx's."""
    try:
        yield
    except aiohttp.ConnectionTimeoutError as error:
        raise httpx.ConnectTimeout("connecting took too long") from error
    except (aiohttp.ServerTimeoutError, TimeoutError) as error:
        raise httpx.ReadTimeout("silent for too long") from error
    except aiohttp.ClientSSLError as error:
        raise TlsError(type(error).__name__) from error
    except aiohttp.ClientConnectorError as error:
        raise httpx.ConnectError(type(error).__name__) from error
    except aiohttp.ClientError as error:
        raise httpx.RemoteProtocolError(type(error).__name__) from error


async def _mark_reused(
    _: aiohttp.ClientSession,
    context: SimpleNamespace,
    __: aiohttp.TraceConnectionReuseconnParams,
) -> None:
    context.trace_request_ctx.reused = True
