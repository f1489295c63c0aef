"""Everything under /v1 but our own API: in, through the filters, upstream, and the answer back.

A plain ASGI callable: a framework's routing and response objects would cost twice what all of this
does (GATEWAY.md). Bytes of an answer are passed on as they come; a reader listens beside them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Final

from app import metrics
from app.dialects import PLAIN
from app.domain import Arrival, Call, Exchange
from app.errors import RejectedError, UpstreamError
from app.pipeline import Step, run
from app.ports import Dialect, Outgoing, Upstream
from app.routes.answer import own_headers
from app.routes.client import Client, ClientGoneError, too_large
from app.routes.learning import Learning
from app.routes.models import PATH, merged
from app.routes.passage import Passage
from app.routes.unmarked import asks_for_markers, readable, unmarked, with_markers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from starlette.types import Receive, Scope, Send

    from app.ports import Reply, ReplyReader

JSON: Final = "application/json"
# Such JSON is there at once: to pass it on in pieces would cost more than it does.
SMALL: Final = 16 * 1024
_SLASHES: Final = re.compile(rb"/{2,}")


@dataclass(frozen=True, slots=True)
class ProxyParts:
    """What the proxy is built of. `several`: the model decides which upstream serves a call."""

    inbound: Sequence[Step[Exchange]]
    upstream: Upstream
    learning: Learning | None
    dialects: Mapping[tuple[str, bytes], Dialect]
    several: bool
    body_limit: int
    body_idle: float


class Proxy:
    """The ASGI application for /v1."""

    def __init__(self, parts: ProxyParts) -> None:
        self._parts = parts
        self._by_name = {dialect.name: dialect for dialect in (PLAIN, *parts.dialects.values())}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = Client(receive, send, self._parts.body_limit, self._parts.body_idle)
        passage = Passage(client, arrive(scope))
        metrics.RUNNING.inc()
        try:
            async with client.watched():
                await self._pass(passage)
        except ClientGoneError:
            pass
        except (RejectedError, UpstreamError) as error:
            await passage.refuse(error)
        finally:
            passage.close()
            self._abandon(passage)
            passage.report()
            metrics.RUNNING.dec()

    async def _pass(self, passage: Passage) -> None:
        await self._receive(passage)
        passage.begin()
        passage.exchange = exchange = await run(self._parts.inbound, passage.exchange)
        metrics.observe(exchange.notes)
        passage.asks = asks_for_markers(exchange)
        outgoing = self._outgoing(passage)
        if self._parts.several and (outgoing.method, outgoing.path) == ("GET", PATH):
            passage.reply = merged(await self._parts.upstream.everyone(outgoing))
        else:
            passage.reply = await self._parts.upstream.send(outgoing)
        if passage.asks:
            passage.reply, passage.stripper = await unmarked(passage.reply, exchange)
        passage.reader = self._reader(exchange, passage.reply)
        await self._relay(passage, passage.reply)

    async def _receive(self, passage: Passage) -> None:
        """Take the body whole where it must be read; else it is passed on as it comes."""
        arrival, client = passage.exchange.arrival, passage.client
        if (announced := _length(arrival.headers)) is not None and announced > client.limit:
            raise too_large(client.limit)
        dialect = self._dialect(arrival)
        if dialect is not None:
            passage.body = await client.body()
            call = Call(dialect.name, "", passage.body)
            passage.exchange = replace(passage.exchange, call=call)
        elif not _has_body(arrival):
            client.expects_no_body()
        elif announced is not None and announced <= SMALL and _media_type(arrival) == JSON:
            passage.body = await client.body()

    def _dialect(self, arrival: Arrival) -> Dialect | None:
        dialect = self._parts.dialects.get((arrival.method, _meant(arrival.path)))
        if dialect is None and self._parts.several and arrival.method == "POST":
            return PLAIN if _media_type(arrival) == JSON else None
        return dialect

    def _outgoing(self, passage: Passage) -> Outgoing:
        exchange = passage.exchange
        arrival, call, identity = exchange.arrival, exchange.call, exchange.identity
        headers, body = arrival.headers, self._body(passage)
        if call is not None and body is not passage.body:  # what was packed has been unpacked
            headers = tuple(pair for pair in headers if pair[0] != b"content-encoding")
        if passage.asks:
            headers = readable(headers)
        consumed = identity.consumed if identity else None
        passage.seconds = perf_counter() - passage.began
        metrics.OVERHEAD.observe(passage.seconds)
        return Outgoing(
            method=arrival.method,
            path=arrival.path,
            query=arrival.query,
            headers=headers,
            body=body,
            model=call.model if call else "",
            consumed=consumed.encode() if consumed else None,
            wanted=arrival.header(b"x-remora-upstream"),
            rename=self._by_name[call.dialect].rename if call else None,
        )

    def _body(self, passage: Passage) -> bytes | AsyncIterator[bytes]:
        """The very bytes that came, but for a block or a name that may have to change."""
        exchange = passage.exchange
        if exchange.call is not None and (exchange.blocks or self._parts.several):
            return exchange.call.body
        if passage.body is not None:
            return passage.body
        return passage.client.stream() if _has_body(exchange.arrival) else b""

    def _reader(self, exchange: Exchange, reply: Reply) -> ReplyReader | None:
        if exchange.call is None or not exchange.policy.write:
            return None
        headers = dict(reply.headers)
        return self._by_name[exchange.call.dialect].reader(
            headers.get(b"content-type", b"").decode("latin-1"),
            headers.get(b"content-encoding", b"").decode("latin-1"),
        )

    async def _relay(self, passage: Passage, reply: Reply) -> None:
        """Pass the answer on; once it is whole, and before its last byte leaves, keep the turn."""
        client, reader = passage.client, passage.reader
        own = own_headers(passage.exchange, passage.seconds, reply.upstream)
        await client.start(reply.status, (*reply.headers, *own))
        length = _length(reply.headers)
        received = 0
        async for chunk in reply.chunks:
            received += len(chunk)
            whole = reader.feed(chunk) if reader else False
            if whole or received == length:
                await self._keep(passage, reply)
            await client.write(chunk)
        await self._keep(passage, reply)
        if self._parts.learning is not None:
            self._parts.learning.used(passage.exchange)
        await client.finish()

    async def _keep(self, passage: Passage, reply: Reply) -> None:
        learning, reader = self._parts.learning, passage.reader
        if learning is not None and reader is not None and not passage.kept:
            passage.kept = True
            answer = reader.finish()
            if passage.stripper is not None:
                answer = with_markers(answer, passage.exchange, passage.stripper.found)
            await learning.keep(passage.exchange, reply.status, answer)

    def _abandon(self, passage: Passage) -> None:
        """The receipt of a round that broke off."""
        learning = self._parts.learning
        if learning is not None and passage.reader is not None and not passage.kept:
            learning.skip(passage.exchange)


def arrive(scope: Scope) -> Arrival:
    """An ASGI scope as the filters read it."""
    client = scope.get("client")
    return Arrival(
        method=scope["method"],
        path=scope["raw_path"],
        query=scope["query_string"],
        headers=tuple(scope["headers"]),
        peer=client[0] if client else "",
    )


def _meant(path: bytes) -> bytes:
    """The path without the slashes that a base URL ending in one brings along."""
    return _SLASHES.sub(b"/", path).rstrip(b"/") if b"//" in path or path[-1:] == b"/" else path


def _media_type(arrival: Arrival) -> str:
    return (arrival.header(b"content-type") or "").partition(";")[0].strip().lower()


def _has_body(arrival: Arrival) -> bool:
    return arrival.header(b"transfer-encoding") is not None or bool(_length(arrival.headers))


def _length(headers: Iterable[tuple[bytes, bytes]]) -> int | None:
    """The announced `Content-Length`, if there is one."""
    value = next((v for name, v in headers if name == b"content-length"), b"")
    return int(value) if value.isdigit() else None
