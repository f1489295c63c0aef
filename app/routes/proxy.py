"""Everything under /v1 but our own API: in, through the filters, upstream, and the answer back.

A plain ASGI callable: a framework's routing and response objects would cost twice what all of this
does (GATEWAY.md). Bytes of an answer are passed on as they come; a reader listens beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import orjson
import structlog
import uuid_utils

from app import metrics
from app.domain import Arrival, Call, Exchange, utc_now
from app.errors import RejectedError, UpstreamError
from app.pipeline import Step, run
from app.ports import Dialect, Outgoing, Upstream
from app.routes.answer import memory_status, own_headers
from app.routes.client import Client, ClientGoneError, too_large
from app.routes.learning import Learning

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from starlette.types import Receive, Scope, Send

    from app.ports import Reply, ReplyReader

_log = structlog.get_logger()
JSON: Final = (b"content-type", b"application/json")


@dataclass(frozen=True, slots=True)
class ProxyParts:
    """What the proxy is built of."""

    inbound: Sequence[Step[Exchange]]
    upstream: Upstream
    learning: Learning | None
    dialects: Mapping[tuple[str, bytes], Dialect]
    body_limit: int


class Proxy:
    """The ASGI application for /v1."""

    def __init__(self, parts: ProxyParts) -> None:
        self._parts = parts
        self._by_name = {dialect.name: dialect for dialect in parts.dialects.values()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        passage = Passage(Client(receive, send), _arrive(scope))
        try:
            async with passage.client.watched():
                await self._pass(passage)
        except ClientGoneError:
            pass
        except (RejectedError, UpstreamError) as error:
            await passage.refuse(error)
        finally:
            passage.close()
            self._abandon(passage)
            passage.report()

    async def _pass(self, passage: Passage) -> None:
        arrival, limit = passage.exchange.arrival, self._parts.body_limit
        if (announced := _length(arrival.headers)) is not None and announced > limit:
            raise too_large(limit)
        dialect = self._parts.dialects.get((arrival.method, arrival.path))
        if dialect is not None:
            call = Call(dialect.name, "", await passage.client.body(limit))
            passage.exchange = replace(passage.exchange, call=call)
        passage.begin()
        passage.exchange = exchange = await run(self._parts.inbound, passage.exchange)
        metrics.observe(exchange.notes)
        passage.reply = reply = await self._parts.upstream.send(self._outgoing(passage))
        passage.reader = self._reader(exchange, reply)
        await self._relay(passage, reply)

    def _outgoing(self, passage: Passage) -> Outgoing:
        exchange = passage.exchange
        arrival, call, identity = exchange.arrival, exchange.call, exchange.identity
        passage.seconds = perf_counter() - passage.began
        metrics.OVERHEAD.observe(passage.seconds)
        consumed = identity.consumed if identity else None
        body: bytes | AsyncIterator[bytes] = call.body if call else b""
        if call is None and _has_body(arrival):
            body = passage.client.stream(self._parts.body_limit)
        return Outgoing(
            method=arrival.method,
            path=arrival.path,
            query=arrival.query,
            headers=arrival.headers,
            body=body,
            model=call.model if call else "",
            consumed=consumed.encode() if consumed else None,
        )

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
        own = own_headers(passage.exchange, passage.seconds)
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
            await learning.keep(passage.exchange, reply.status, reader.finish())

    def _abandon(self, passage: Passage) -> None:
        """The receipt of a round that broke off."""
        learning = self._parts.learning
        if learning is not None and passage.reader is not None and not passage.kept:
            learning.skip(passage.exchange)


class Passage:
    """What is known of one call while it passes; the only mutable thing on its way."""

    def __init__(self, client: Client, arrival: Arrival) -> None:
        self.client = client
        self.exchange = Exchange(f"req_{uuid_utils.uuid7().hex}", utc_now(), arrival)
        self.began = perf_counter()
        self.seconds = 0.0
        self.reply: Reply | None = None
        self.reader: ReplyReader | None = None
        self.kept = False
        self.status = 499

    def begin(self) -> None:
        """The body is there: from here on time is ours."""
        self.began = perf_counter()

    async def refuse(self, error: RejectedError | UpstreamError) -> None:
        """Answer with an error; an answer that has begun is left broken, never ended cleanly."""
        error = self.client.refused or error
        if self.client.gone:
            return
        if self.client.started:
            _log.warning("broken_answer", id=self.exchange.id, reason=str(error))
            return
        self.status = error.status
        body = orjson.dumps(_error_body(error))
        await self.client.start(
            error.status,
            [
                JSON,
                (b"content-length", str(len(body)).encode()),
                *own_headers(self.exchange, self.seconds),
            ],
        )
        await self.client.finish(body)

    def close(self) -> None:
        """Let go of the upstream; at once if its answer was not read to the end."""
        if self.reply is not None:
            self.status = self.reply.status
            self.reply.close()

    def report(self) -> None:
        """The canonical log line and the counters of the call."""
        exchange, reply = self.exchange, self.reply
        route, upstream = _route(exchange), reply.upstream if reply else None
        memory = memory_status(exchange)
        metrics.CALLS.labels(route, upstream or "", str(self.status)).inc()
        metrics.MEMORY.labels(memory).inc()
        if self.client.gone:
            metrics.ABORTED.labels("client").inc()
        if exchange.block is not None:
            metrics.INJECTED_TOKENS.inc(exchange.block.tokens)
        _log.info(
            "call",
            id=exchange.id,
            route=route,
            method=exchange.arrival.method,
            model=exchange.call.model[:100] if exchange.call else None,
            upstream=upstream,
            status=self.status,
            ms=round((perf_counter() - self.began) * 1000, 1),
            overhead_ms=round(self.seconds * 1000, 1),
            steps={note.step: round(note.seconds * 1000, 2) for note in exchange.notes},
            memory=memory,
            tokens=exchange.block.tokens if exchange.block else 0,
            client_gone=self.client.gone,
        )


def _arrive(scope: Scope) -> Arrival:
    client = scope.get("client")
    return Arrival(
        method=scope["method"],
        path=scope["raw_path"],
        query=scope["query_string"],
        headers=tuple(scope["headers"]),
        peer=client[0] if client else "",
    )


def _has_body(arrival: Arrival) -> bool:
    return arrival.header(b"transfer-encoding") is not None or bool(_length(arrival.headers))


def _length(headers: Iterable[tuple[bytes, bytes]]) -> int | None:
    """The announced `Content-Length`, if there is one."""
    value = next((v for name, v in headers if name == b"content-length"), b"")
    return int(value) if value.isdigit() else None


def _route(exchange: Exchange) -> str:
    """The path, without what may be an id: the whole of those we speak, else two parts."""
    if exchange.call is not None:
        return exchange.arrival.path.decode("latin-1")
    return b"/".join(exchange.arrival.path.split(b"/")[:3]).decode("latin-1")[:60]


def _error_body(error: RejectedError | UpstreamError) -> dict[str, Any]:
    if isinstance(error, UpstreamError):
        error = RejectedError(error.status, error.message, code=error.code, kind="api_error")
    return error.body()
