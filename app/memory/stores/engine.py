"""What a store is built on: the few things that differ from engine to engine."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar
from uuid import UUID

from app.domain import Vectors
from app.memory.rows import Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.memory.stores.evidence import Hits
    from app.memory.stores.plan import Kit

C = TypeVar("C")


class Order(Enum):
    """By when a row was created."""

    NEWEST = "newest"
    OLDEST = "oldest"


@dataclass(frozen=True, slots=True)
class Write(Generic[C]):
    """One row: inserted if `condition` is None and the id is new, else replaced if it holds.

    `vectors` None keeps what is indexed; `unindex` drops it in the same step.
    """

    id: UUID
    row: Row
    vectors: Vectors | None = None
    condition: C | None = None
    unindex: bool = False


class Engine(Protocol[C]):
    """The few things that differ between Qdrant Edge, a Qdrant server and plain memory.

    Rows come back with `id` as the engine knows it, whatever the row itself says. `exclusive`: no
    other process writes to it, and reading does not give way to a write.
    """

    kit: Kit[C]
    exclusive: bool

    async def nearest(self, condition: C, vectors: Vectors, limit: int) -> Hits:
        """The best by each of the vectors that are not empty, within the condition; no rows yet."""
        ...

    async def scroll(
        self, condition: C, limit: int, *, order: Order | None = Order.NEWEST
    ) -> list[Row]:
        """Rows that match: the first by `created_us` (which they must have); None: any of them."""
        ...

    async def count(self, condition: C) -> int:
        """Exactly how many match."""
        ...

    async def delete(self, condition: C) -> None:
        """Remove what matches, without a trace."""
        ...

    async def write(self, writes: Sequence[Write[C]]) -> list[bool]:
        """Apply each write in one step if its condition holds; which did."""
        ...
