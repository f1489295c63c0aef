"""Which headers cross the proxy. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Pairs = tuple[tuple[bytes, bytes], ...]

# RFC 9110 section 7.6.1, and what belongs to one connection by its meaning.
HOP_BY_HOP: Final = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
# `Expect` was answered by our own server; `Host` is the upstream's; the length is of our own body.
NOT_FORWARDED: Final = HOP_BY_HOP | {b"host", b"expect", b"content-length"}
OURS: Final = (b"x-memory", b"x-remora")
CREDENTIALS: Final = frozenset({b"authorization", b"api-key", b"x-api-key"})


def forwarded(headers: Pairs, consumed: bytes | None = None) -> Pairs:
    """A request's end-to-end headers; without ours, and without a credential that was for us."""
    dropped = NOT_FORWARDED | _nominated(headers) | ({consumed} if consumed else set())
    return tuple(
        (name, value)
        for name, value in headers
        if name not in dropped and not name.startswith(OURS)
    )


def returned(headers: Iterable[tuple[bytes, bytes]]) -> Pairs:
    """An answer's end-to-end headers, duplicates and all; names in lower case, as ASGI wants.

    Another Remora further up does not speak for this one.
    """
    lowered = tuple((name.lower(), value) for name, value in headers)
    dropped = HOP_BY_HOP | _nominated(lowered)
    return tuple(
        pair for pair in lowered if pair[0] not in dropped and not pair[0].startswith(OURS)
    )


def without_credentials(headers: Pairs) -> Pairs:
    """Headers for an upstream with a credential of its own: it never gets two (G6)."""
    return tuple(pair for pair in headers if pair[0] not in CREDENTIALS)


def has_credential(headers: Pairs) -> bool:
    """Whether anything is left by which an upstream may know its client."""
    return any(name in CREDENTIALS for name, _ in headers)


def with_extra(headers: Pairs, extra: Mapping[str, str]) -> Pairs:
    """Configured headers (named in lower case), instead of any of the same name."""
    if not extra:
        return headers
    added = tuple((name.encode(), value.encode()) for name, value in extra.items())
    names = {name for name, _ in added}
    return (*(pair for pair in headers if pair[0] not in names), *added)


def _nominated(headers: Pairs) -> set[bytes]:
    """Headers that `Connection` names as hop-by-hop."""
    return {
        token.strip().lower()
        for name, value in headers
        if name == b"connection"
        for token in value.split(b",")
    }
