"""The collections of a Qdrant server. They cannot be renamed: what moved is marked as moved.

A marked collection is neither served (`QdrantEngine` refuses it: what was forgotten since is still
in it) nor brought over again. The new collection is filled where it is; cut short, it holds a part
until the next run.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from qdrant_client import models

from app.memory.stores.moving import PAGE, Size, Stored
from app.memory.stores.qdrant import MOVED, QdrantEngine, mapped, older
from app.memory.stores.schema import LEXICAL

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from qdrant_client import AsyncQdrantClient

    from app.domain import Shape

_INDEXED: Final = models.Filter(must=[models.HasVectorCondition(has_vector=LEXICAL)])


class QdrantSource:
    """A collection of whatever shape."""

    def __init__(self, client: AsyncQdrantClient, name: str) -> None:
        self._client = client
        self._name = name

    async def size(self) -> Size:
        every = await mapped(self._client.count(self._name, exact=True))
        count = self._client.count(self._name, count_filter=_INDEXED, exact=True)
        return Size(every.count, (await mapped(count)).count)

    async def pages(self) -> AsyncIterator[list[Stored]]:
        offset: Any = None
        while True:
            records, offset = await mapped(
                self._client.scroll(
                    self._name, limit=PAGE, offset=offset, with_payload=True, with_vectors=True
                )
            )
            yield [Stored(UUID(str(r.id)), r.payload or {}, bool(r.vector)) for r in records]
            if offset is None:
                return


class QdrantCollections:
    """All that are ours on a server. Does not close the client."""

    def __init__(self, client: AsyncQdrantClient, name: str, shape: Shape) -> None:
        self.name = name
        self._client = client
        self._shape = shape

    async def older(self) -> list[str]:
        return await mapped(older(self._client, self.name))

    @asynccontextmanager
    async def source(self, name: str) -> AsyncIterator[QdrantSource]:
        yield QdrantSource(self._client, name)

    @asynccontextmanager
    async def draft(self) -> AsyncIterator[QdrantEngine]:
        """The collection itself; when it had moved once, it is taken back into use by `switch`."""
        yield QdrantEngine(self._client, self.name, self._shape, even_moved=True)

    async def switch(self, moved: Sequence[str], *, delete: bool) -> list[str]:
        await self._mark(self.name, "")
        for name in moved:
            if delete:
                await mapped(self._client.delete_collection(name))
            else:
                await self._mark(name, self.name)
        return [] if delete else list(moved)

    async def _mark(self, name: str, to: str) -> None:
        await mapped(self._client.update_collection(name, metadata={MOVED: to}))
