"""Sends a request to the upstream that serves its model, once, and gives back an unread reply."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import httpx

from app.errors import ConfigurationError, RejectedError, UpstreamError
from app.ports import Outgoing, Reply
from app.upstream.headers import Pairs, forwarded, returned, with_extra, with_key
from app.upstream.transport import TlsError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from app.settings import UpstreamSettings


@dataclass(frozen=True, slots=True)
class Target:
    """One upstream, ready to be used. `key` is sent instead of the client's, if there is one."""

    name: str
    url: str
    key: str | None = field(default=None, repr=False)
    models: tuple[str, ...] = ("*",)
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    connect_timeout: float = 10.0
    read_timeout: float = 600.0

    def serves(self, model: str) -> bool:
        """Whether a model name fits one of its globs; a call that names no model fits any."""
        return not model or any(fnmatchcase(model, glob) for glob in self.models)


class HttpUpstream:
    """`app.ports.Upstream` over any httpx transport."""

    def __init__(self, targets: Sequence[Target], transport: httpx.AsyncBaseTransport) -> None:
        self._targets = targets
        self._transport = transport

    async def send(self, request: Outgoing) -> Reply:
        target = self._route(request.model)
        outgoing = _request(target, request)
        try:
            answer = await self._transport.handle_async_request(outgoing)
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

    def _route(self, model: str) -> Target:
        for target in self._targets:
            if target.serves(model):
                return target
        raise RejectedError(
            404,
            f"The model '{model[:100]}' is served by no upstream.",
            param="model",
            code="model_not_found",
        )


def explain(error: httpx.TransportError, name: str) -> UpstreamError:
    """What a client is told: which upstream and what happened, not its address or key (G11)."""
    if isinstance(error, httpx.TimeoutException):
        return UpstreamError(
            504, "upstream_timeout", f"The upstream '{name}' did not answer in time."
        )
    if isinstance(error, TlsError):
        return UpstreamError(502, "upstream_tls", f"The upstream '{name}' failed the handshake.")
    if isinstance(error, httpx.ConnectError):
        return UpstreamError(
            502, "upstream_unreachable", f"The upstream '{name}' cannot be reached."
        )
    return UpstreamError(502, "upstream_broken", f"The upstream '{name}' broke off.")


def _nothing_to_close() -> None:
    """For streams of a test transport, which hold no connection."""


async def _chunks(stream: httpx.AsyncByteStream, name: str) -> AsyncIterator[bytes]:
    try:
        async for chunk in stream:
            yield chunk
    except httpx.TransportError as error:
        raise explain(error, name) from error


def _request(target: Target, request: Outgoing) -> httpx.Request:
    headers = forwarded(request.headers, request.consumed)
    if target.key is not None:
        headers = with_key(headers, target.key)
    elif request.consumed:
        raise RejectedError(
            401,
            "A Remora key opens no upstream by itself: the operator sets an upstream key, or you "
            "send your provider's key as the API key and the Remora key as 'X-Remora-Key'.",
            code="upstream_key_missing",
        )
    headers = with_extra(headers, target.headers)
    timeouts = {"connect": target.connect_timeout, "read": target.read_timeout}
    return httpx.Request(
        request.method,
        _address(target.url, request.path, request.query),
        headers=[*headers, *_length(request)],
        content=request.body,
        extensions={"timeout": timeouts},
    )


def _length(request: Outgoing) -> Pairs:
    """A streamed body keeps the length that the client announced."""
    if isinstance(request.body, bytes):
        return ()
    return tuple(pair for pair in request.headers if pair[0] == b"content-length")


@lru_cache(maxsize=1024)
def _address(base: str, path: bytes, query: bytes) -> httpx.URL:
    """Join as an SDK joins its base URL: `/v1` of ours gives way to the base's own path.

    A base without a path takes ours whole. Percent-encoding stays as it came (G4).
    """
    root = httpx.URL(base)
    prefix = root.raw_path.partition(b"?")[0].rstrip(b"/")
    rest = path.removeprefix(b"/v1") if prefix else path
    fixed = b"&".join(part for part in (root.query, query) if part)
    return root.copy_with(raw_path=prefix + rest + (b"?" + fixed if fixed else b""))


def targets(configured: Sequence[UpstreamSettings]) -> list[Target]:
    """The upstreams with their keys; raises `ConfigurationError` for a bad URL or key."""
    return [_target(upstream) for upstream in configured]


def _target(upstream: UpstreamSettings) -> Target:
    url = httpx.URL(upstream.url)
    if url.scheme not in {"http", "https"} or not url.host:
        raise ConfigurationError(
            f"upstream '{upstream.name}': {upstream.url!r} is not an http(s) base URL"
        )
    return Target(
        name=upstream.name,
        url=upstream.url,
        key=upstream.secret_key(),
        models=upstream.models,
        headers=upstream.headers,
        connect_timeout=upstream.connect_timeout,
        read_timeout=upstream.read_timeout,
    )
