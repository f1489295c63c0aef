"""One of our requests as one for an upstream: address, headers, credentials, model name. Pure."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import httpx

from app.errors import RejectedError
from app.upstream.headers import Pairs, forwarded, has_credential, with_extra, without_credentials

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from app.ports import Outgoing
    from app.upstream.targets import Target


def build(target: Target, request: Outgoing) -> httpx.Request:
    """The request for that upstream; raises `RejectedError` (401) where no credential is left."""
    body = _renamed(target, request)
    return httpx.Request(
        request.method,
        address(target.url, request.path, request.query),
        headers=[*head(target, request), *_length(request)],
        content=body,
        extensions={"timeout": target.timeouts},
    )


def head(target: Target, request: Outgoing) -> Pairs:
    """The headers for that upstream."""
    headers = forwarded(request.headers, request.consumed)
    if credentials := target.credentials:
        headers = without_credentials(headers)
    headers = with_extra(headers, target.headers | credentials)
    if request.consumed and target.needs_key and not has_credential(headers):
        raise RejectedError(
            401,
            "A Remora key opens no upstream by itself: the operator sets an upstream key, or you "
            "send your provider's key as the API key and the Remora key as 'X-Remora-Key'.",
            code="upstream_key_missing",
        )
    return headers


def _renamed(target: Target, request: Outgoing) -> bytes | AsyncIterator[bytes]:
    """The body under the name that the upstream has for the model (G18)."""
    name = target.rewrite.get(request.model)
    if name is None or request.rename is None or not isinstance(request.body, bytes):
        return request.body
    return request.rename(request.body, name)


def _length(request: Outgoing) -> Pairs:
    """A streamed body keeps the length that the client announced."""
    if isinstance(request.body, bytes):
        return ()
    return tuple(pair for pair in request.headers if pair[0] == b"content-length")


@lru_cache(maxsize=1024)
def address(base: str, path: bytes, query: bytes) -> httpx.URL:
    """Join as an SDK joins its base URL: `/v1` of ours gives way to the base's own path.

    A base without a path takes ours whole. Percent-encoding stays as it came (G4).
    """
    root = httpx.URL(base)
    prefix = root.raw_path.partition(b"?")[0].rstrip(b"/")
    rest = path.removeprefix(b"/v1") if prefix else path
    fixed = b"&".join(part for part in (root.query, query) if part)
    return root.copy_with(raw_path=prefix + rest + (b"?" + fixed if fixed else b""))
