"""Content encodings that can be read here."""

from __future__ import annotations

import zlib
from typing import Final

MAX_DECODED: Final = 64 * 1024 * 1024
AUTOMATIC: Final = 47  # zlib's own flag for "gzip or zlib, see for yourself"
PLAIN: Final = frozenset({"", "identity"})
READABLE: Final = PLAIN | {"gzip", "x-gzip", "deflate"}


def decoded(body: bytes, encoding: str) -> bytes | None:
    """The body as it was before it was compressed; None where that cannot be told."""
    name = encoding.strip().lower()
    if name in PLAIN:
        return body
    if name not in READABLE:
        return None
    reader = zlib.decompressobj(AUTOMATIC)
    try:
        plain = reader.decompress(body, MAX_DECODED)
    except zlib.error:
        return None
    return plain if reader.eof else None
