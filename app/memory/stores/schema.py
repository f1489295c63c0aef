"""What every Qdrant engine shares, so that data can move between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from app.memory.rows import wire_id

if TYPE_CHECKING:
    from app.memory.rows import Row

DENSE: Final = "dense"
LEXICAL: Final = "bm25"
# Every field that a condition can name is indexed: Qdrant's strict mode refuses any other.
TENANTS: Final = ("tenant", "user")
KEYWORDS: Final = ("project", "pool", "state", "type", "slot", "app", "conversation_id", "digest")
INTEGERS: Final = ("created_us", "updated_us", "pin")


def with_id(payload: dict[str, Any] | None, point_id: object) -> Row:
    """The row of a point; a damaged payload cannot claim another id."""
    return {**(payload or {}), "id": wire_id(UUID(str(point_id)))}
