"""Content encodings that can be read here."""

from __future__ import annotations

import zlib
from typing import Final

MAX_DECODED: Final = 64 * 1024 * 1024
_AUTOMATIC: Final = 47  # zlib's own flag for "gzip or zlib, see for yourself"


def decoded(body: bytes, encoding: str) -> bytes | None:
    """The body as it was before it was compressed; None where that cannot be told."""
    name = encoding.strip().lower()
    if name in {"", "identity"}:
        return body
    if name not in {"gzip", "x-gzip", "deflate"}:
        return None
    reader = zlib.decompressobj(_AUTOMATIC)
    try:
        plain = reader.decompress(body, MAX_DECODED)
    except zlib.error:
        return None
    return plain if reader.eof else None
