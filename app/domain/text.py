"""Rules for text that is kept."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime
from typing import Final

MAX_CONTENT_BYTES: Final = 16 * 1024
MAX_QUOTE_CHARS: Final = 300


def clean_text(text: str, limit: int = MAX_CONTENT_BYTES) -> str:
    """NFC, trimmed, at most `limit` bytes of UTF-8, cut on a character boundary (M3).

    Lone surrogates and NUL become U+FFFD, so that every store and client can hold the result.
    """
    sound = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    normal = unicodedata.normalize("NFC", sound.replace("\x00", "\ufffd")).strip()
    raw = normal.encode()
    if len(raw) <= limit:
        return normal
    return raw[:limit].decode("utf-8", "ignore").rstrip()


def utc_now() -> datetime:
    """The current time, aware, in UTC."""
    return datetime.now(UTC)
