"""Names that every Qdrant engine shares, so that data can move between them."""

from __future__ import annotations

from typing import Final

DENSE: Final = "dense"
LEXICAL: Final = "bm25"
TENANTS: Final = ("tenant", "user")
KEYWORDS: Final = (
    "project",
    "pool",
    "state",
    "type",
    "slot",
    "app",
    "conversation_id",
    "digest",
    "rev",
)
INTEGERS: Final = ("created_us", "updated_us")
