"""What every Qdrant engine shares, so that data can move between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from app.memory.fusion import BM25, COSINE, MAXSIM, MULTILINGUAL
from app.memory.rows import wire_id

if TYPE_CHECKING:
    from app.domain import Vectors
    from app.memory.rows import Row

DENSE: Final = "dense"
LEXICAL: Final = "bm25"
TOKENS: Final = "tokens"
ACROSS: Final = "multilingual"
# What a search in each of them measures.
MEASURES: Final = {DENSE: COSINE, LEXICAL: BM25, TOKENS: MAXSIM, ACROSS: MULTILINGUAL}
TENANTS: Final = ("tenant", "user")
# In every search; each index of the embedded engine takes 4 MB of memory.
HOT: Final = ("shelf", "state", "slot", "digest", "memories", "turn")
# Every field that a condition can name is indexed on a server: strict mode refuses any other.
KEYWORDS: Final = (*HOT, "project", "pool", "type", "app", "conversation_id")
# Asked only by `as_of`, of one person's rows.
HELD: Final = ("held_from_us", "held_until_us", "first_from_us", "first_until_us")
INTEGERS: Final = ("created_us", "updated_us", "pin", "expires_us")


def dense_parts(vectors: Vectors) -> dict[str, Any]:
    """What there is of a text's vectors but the sparse one, by name, as lists."""
    parts = {
        DENSE: list(vectors.dense),
        TOKENS: [list(token) for token in vectors.tokens],
        ACROSS: list(vectors.multilingual),
    }
    return {name: part for name, part in parts.items() if part}


def with_id(payload: dict[str, Any] | None, point_id: object) -> Row:
    """The row of a point; a damaged payload cannot claim another id."""
    row = payload or {}
    row["id"] = wire_id(point_id if isinstance(point_id, UUID) else UUID(str(point_id)))
    return row
