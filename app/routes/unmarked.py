"""An answer that was asked to hold markers, without them (M28).

A whole answer is taken whole before its head goes out: only then its length is known. A streamed
one passes as it comes. Errors are no answers: they pass untouched.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import structlog

from app.dialects.encoding import AUTOMATIC, PLAIN, READABLE
from app.dialects.strip import StreamStripper, stripper
from app.domain.marker import asks
from app.errors import UpstreamError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from app.dialects.strip import Stripper
    from app.domain import Answer, Exchange
    from app.ports import Reply

    Pairs = tuple[tuple[bytes, bytes], ...]

_log = structlog.get_logger()
# The bytes are other bytes then, and so are their length and their digests.
_OF_BYTES: Final = frozenset(
    {b"content-length", b"content-encoding", b"content-md5", b"content-digest", b"digest", b"etag"}
)
# Answers that ended before their last line, or for a tool, could not hold a marker.
_EARLY: Final = frozenset({"length", "tool_calls", "function_call"})


def asks_for_markers(exchange: Exchange) -> bool:
    """Whether anything that the model gets to read asks for them, on whichever turn."""
    return any(asks(placed.block.text) for placed in exchange.blocks)


def readable(headers: Pairs) -> Pairs:
    """A request's headers that ask for an answer without compression."""
    kept = tuple(pair for pair in headers if pair[0] != b"accept-encoding")
    return (*kept, (b"accept-encoding", b"identity"))


def with_markers(answer: Answer, exchange: Exchange, found: tuple[str, ...]) -> Answer:
    """The answer with what its markers held; None if it has none and could have none."""
    turn, last = exchange.call.turn if exchange.call else None, exchange.blocks[-1:]
    asked = any(placed.turn == turn and asks(placed.block.text) for placed in last)
    due = asked and answer.finish not in _EARLY
    return replace(answer, markers=found if found or due else None)


async def unmarked(reply: Reply, exchange: Exchange) -> tuple[Reply, Stripper | None]:
    """The reply as the client gets it, and what takes the markers out; may read all of it first."""
    headers = dict(reply.headers)
    encoding = headers.get(b"content-encoding", b"").decode("latin-1").strip().lower()
    if not 200 <= reply.status < 300:  # noqa: PLR2004 the class of success
        return reply, None
    if encoding not in READABLE:  # against what it was asked for
        _log.warning("markers_not_stripped", id=exchange.id, upstream=reply.upstream)
        return reply, None
    kind = headers.get(b"content-type", b"").decode("latin-1")
    stripping = stripper(kind, stream=exchange.call is not None and exchange.call.stream)
    chunks = _plain(reply) if encoding not in PLAIN else reply.chunks
    chunks = _stripped(chunks, stripping)
    kept = tuple(pair for pair in reply.headers if pair[0] not in _OF_BYTES)
    if isinstance(stripping, StreamStripper):
        return replace(reply, headers=kept, chunks=chunks), stripping
    body = b"".join([chunk async for chunk in chunks])
    length = (b"content-length", str(len(body)).encode())
    return replace(reply, headers=(*kept, length), chunks=_one(body)), stripping


async def _stripped(chunks: AsyncIterator[bytes], stripping: Stripper) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        if shown := stripping.feed(chunk):
            yield shown
    if shown := stripping.finish():
        yield shown


async def _one(body: bytes) -> AsyncIterator[bytes]:
    yield body


async def _plain(reply: Reply) -> AsyncIterator[bytes]:
    """What an upstream compressed although it was asked not to."""
    reader = zlib.decompressobj(AUTOMATIC)
    try:
        async for chunk in reply.chunks:
            yield reader.decompress(chunk)
        yield reader.flush()
    except zlib.error:
        message = f"The upstream '{reply.upstream}' broke off."
        raise UpstreamError(502, "upstream_broken", message, reply.upstream) from None
