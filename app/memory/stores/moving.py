"""What it takes to bring rows from one collection to another: a way to read them all, and a switch.

Beside `Engine`, which serves one collection and never looks at all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeVar
from uuid import UUID

import structlog

from app.memory.rows import Row

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from contextlib import AbstractAsyncContextManager

    from app.memory.stores.engine import Engine

_log = structlog.get_logger()

C = TypeVar("C")
# Rows that are read, embedded and written together.
PAGE: Final = 128
# How the collection of any embedding identity begins (`StoreSpec.collection`).
PREFIX: Final = "memory-"


@dataclass(frozen=True, slots=True)
class Stored:
    """A row as it lies there, with no word added; `indexed`: it has a vector."""

    id: UUID
    row: Row
    indexed: bool


@dataclass(frozen=True, slots=True)
class Size:
    """How many rows a collection has, and how many of them have a vector."""

    rows: int
    indexed: int


class Source(Protocol):
    """A collection of whatever model, to be read from end to end. Never written."""

    async def size(self) -> Size:
        """Exact counts; raises `StoreError`."""
        ...

    def pages(self) -> AsyncIterator[list[Stored]]:
        """Every row once, damaged ones too, by id, `PAGE` at a time; raises `StoreError`."""
        ...


class Collections(Protocol[C]):
    """All collections that one store keeps; `name` is that of the model in use."""

    name: str

    async def older(self) -> list[str]:
        """Collections of other models whose rows have not been brought over yet."""
        ...

    def source(self, name: str) -> AbstractAsyncContextManager[Source]:
        """Open one of them; raises `ConfigurationError` or `StoreError`."""
        ...

    def draft(self) -> AbstractAsyncContextManager[Engine[C]]:
        """What shall become the collection in use: it has all the rows of the one that is."""
        ...

    async def switch(self, moved: Sequence[str], *, delete: bool) -> list[str]:
        """Use the closed draft, and let go of what moved into it; the names of what is left."""
        ...


def warn_of(others: Sequence[str], used: str) -> None:
    """At the start: else a change of model would look as if everything had been forgotten."""
    if others:
        hint = "stop the server and run: remora reindex"
        _log.warning("memories_of_another_model", not_used=others, used=used, hint=hint)
