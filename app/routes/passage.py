"""What is known of one call while it passes, and what is said of it afterwards."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import orjson
import structlog
import uuid_utils

from app import metrics
from app.domain import Exchange, utc_now
from app.errors import RejectedError, UpstreamError
from app.routes.answer import memory_status, own_headers

if TYPE_CHECKING:
    from app.dialects.strip import Stripper
    from app.domain import Arrival
    from app.ports import Reply, ReplyReader
    from app.routes.client import Client

_log = structlog.get_logger()
JSON: Final = (b"content-type", b"application/json")
PARTS: Final = frozenset(
    b"audio assistants batches chat completions conversations embeddings files fine_tuning images"
    b" messages models moderations realtime rerank responses threads uploads vector_stores"
    b" videos".split()
)


class Passage:
    """What is known of one call while it passes; the only mutable thing on its way."""

    def __init__(self, client: Client, arrival: Arrival) -> None:
        self.client = client
        self.exchange = Exchange(new_id(), utc_now(), arrival)
        self.began = perf_counter()
        self.seconds = 0.0
        self.body: bytes | None = None
        self.reply: Reply | None = None
        self.reader: ReplyReader | None = None
        self.stripper: Stripper | None = None
        self.asks = False
        self.kept = False
        self.status = 499
        self.upstream: str | None = None
        self.broken: str | None = None

    def begin(self) -> None:
        """The body is there: from here on time is ours."""
        self.began = perf_counter()

    async def refuse(self, error: RejectedError | UpstreamError) -> None:
        """Answer with an error; an answer that has begun is left broken, never ended cleanly."""
        error = self.client.refused or error
        if self.client.gone:
            return
        if isinstance(error, UpstreamError):
            self.upstream = error.upstream
            metrics.ABORTED.labels("upstream").inc()
        if self.client.started:
            self.broken = error.code
            return
        self.status = error.status
        body = orjson.dumps(error_body(error))
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
            self.status, self.upstream = self.reply.status, self.reply.upstream
            self.reply.close()

    def report(self) -> None:
        """The canonical log line and the counters of the call."""
        exchange, upstream = self.exchange, self.upstream
        route = route_of(exchange.arrival)
        memory = memory_status(exchange)
        metrics.calls(route, upstream or "", str(self.status)).inc()
        metrics.memory(memory).inc()
        if self.client.gone:
            metrics.ABORTED.labels("client").inc()
        tokens = {False: 0, True: 0}
        for placed in exchange.blocks:
            tokens[placed.replayed] += placed.block.tokens
        metrics.INJECTED_TOKENS.inc(tokens[False])
        metrics.REPLAYED_TOKENS.inc(tokens[True])
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
            tokens=tokens[False],
            replayed=tokens[True],
            client_gone=self.client.gone,
            broken=self.broken,
        )


def new_id() -> str:
    """The id of a call: UUIDv7, so that ids sort by time."""
    return f"req_{uuid_utils.uuid7().hex}"


def route_of(arrival: Arrival) -> str:
    """Which part of the API it is: bounded, and never what may be an id."""
    part = arrival.path.split(b"/")[2:3]
    return f"/v1/{part[0].decode()}" if part and part[0] in PARTS else "/v1/other"


def error_body(error: RejectedError | UpstreamError) -> dict[str, Any]:
    """OpenAI's error object."""
    if isinstance(error, UpstreamError):
        error = RejectedError(error.status, error.message, code=error.code, kind="api_error")
    return error.body()
