"""The embedded store: Qdrant's own engine in this process (`qdrant-edge-py`), one folder.

Every call runs on one thread of its own: the engine releases the GIL while it searches, and a
condition and its write are one step there, so a conditional write is atomic. `optimize()` is never
called: it holds the GIL for seconds.
"""

from __future__ import annotations

import asyncio
import shutil
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import qdrant_edge as edge

from app.errors import ConfigurationError, StoreError
from app.memory.stores.schema import DENSE, INTEGERS, KEYWORDS, LEXICAL, TENANTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path
    from uuid import UUID

    from app.domain import Sparse, Vectors
    from app.memory.rows import Row
    from app.memory.stores.base import Hit, Write
    from app.memory.stores.plan import Kit

T = TypeVar("T")


class _Kit:
    """Conditions in Edge's own classes."""

    def equals(self, key: str, value: str | int) -> edge.Filter:
        return edge.Filter(must=[edge.FieldCondition(key, match=edge.MatchValue(value))])

    def among(self, key: str, values: Sequence[str]) -> edge.Filter:
        match = edge.MatchAny(list(values))
        return edge.Filter(must=[edge.FieldCondition(key, match=match)])

    def between(self, key: str, low: int | None, high: int | None) -> edge.Filter:
        # Microseconds since 1970 stay below 2^53, so a float holds them exactly.
        bounds = edge.RangeFloat(gte=low, lt=high)
        return edge.Filter(must=[edge.FieldCondition(key, range=bounds)])

    def ids(self, ids: Iterable[UUID]) -> edge.Filter:
        return edge.Filter(must=[edge.HasIdCondition(set(ids))])

    def every(self, conditions: Sequence[edge.Filter]) -> edge.Filter:
        return edge.Filter(must=list(conditions))

    def either(self, conditions: Sequence[edge.Filter]) -> edge.Filter:
        return edge.Filter(should=list(conditions))


class EdgeEngine:
    """One shard in one folder, with one thread to serve it."""

    def __init__(self, folder: Path, dimension: int) -> None:
        self.kit: Kit[edge.Filter] = _Kit()
        self._shard = _open(folder, dimension)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="edge")

    async def nearest(
        self, condition: edge.Filter, vectors: Vectors, limit: int
    ) -> tuple[list[Hit], list[Hit]]:
        def search() -> tuple[list[Hit], list[Hit]]:
            dense = _request(DENSE, list(vectors.dense), condition, limit)
            if not vectors.sparse.indices:
                return _hits(self._shard.query(dense)), []
            lexical = _request(LEXICAL, _sparse(vectors.sparse), condition, limit)
            found = self._shard.query_batch(edge.QueryBatchRequest([dense, lexical]))
            return _hits(found[0]), _hits(found[1])

        return await self._run(search)

    async def scroll(self, condition: edge.Filter, limit: int) -> list[Row]:
        order = edge.OrderBy("created_us", edge.Direction.Desc)
        request = edge.ScrollRequest(
            limit=limit, filter=condition, order_by=order, with_payload=True
        )
        records, _ = await self._run(lambda: self._shard.scroll(request))
        return [record.payload or {} for record in records]

    async def count(self, condition: edge.Filter) -> int:
        return await self._run(lambda: self._shard.count(edge.CountRequest(filter=condition)))

    async def write(self, writes: Sequence[Write[edge.Filter]]) -> list[bool]:
        return await self._run(lambda: [self._apply(write) for write in writes])

    async def close(self) -> None:
        """Flush and let go of the folder."""
        await self._run(self._shard.flush)
        await self._run(self._shard.close)
        self._thread.shutdown()

    def _apply(self, write: Write[edge.Filter]) -> bool:
        if write.condition is None:
            if self._shard.retrieve([write.id], with_payload=False, with_vector=False):
                return False
            self._upsert(write)
            return True
        if not self._shard.count(edge.CountRequest(filter=write.condition)):
            return False
        if write.vectors is not None:
            self._upsert(write)
        else:
            self._update(edge.UpdateOperation.overwrite_payload([write.id], write.row))
        if write.unindex:
            self._update(edge.UpdateOperation.delete_vectors([write.id], [DENSE, LEXICAL]))
        return True

    def _upsert(self, write: Write[edge.Filter]) -> None:
        vectors: dict[str, Any] = {}
        if write.vectors is not None:
            vectors = {
                DENSE: list(write.vectors.dense),
                LEXICAL: _sparse(write.vectors.sparse),
            }
        self._update(edge.UpdateOperation.upsert_points([edge.Point(write.id, vectors, write.row)]))

    def _update(self, operation: edge.UpdateOperation) -> None:
        self._shard.update(operation)

    async def _run(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        except Exception as error:  # Edge raises plain Exception for everything
            raise StoreError("the embedded store failed") from error


def _open(folder: Path, dimension: int) -> edge.EdgeShard:
    config = edge.EdgeConfig(
        vectors={DENSE: edge.EdgeVectorParams(size=dimension, distance=edge.Distance.Cosine)},
        sparse_vectors={LEXICAL: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
    )
    try:
        if folder.exists():
            return edge.EdgeShard.load(str(folder), config)
        return _create(folder, config)
    except Exception as error:
        raise ConfigurationError(_explain(folder, error)) from error


def _create(folder: Path, config: edge.EdgeConfig) -> edge.EdgeShard:
    """Built beside its place and moved there whole, so that a cut start leaves no half shard."""
    draft = folder.with_name(folder.name + ".new")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    shard = edge.EdgeShard.create(str(draft), config)
    create_index = edge.UpdateOperation.create_field_index
    for name in TENANTS:
        shard.update(create_index(name, edge.KeywordIndexParams(is_tenant=True)))
    for name in KEYWORDS:
        shard.update(create_index(name, edge.PayloadSchemaType.Keyword))
    for name in INTEGERS:
        shard.update(create_index(name, edge.PayloadSchemaType.Integer))
    shard.update(create_index("pinned", edge.PayloadSchemaType.Bool))
    shard.flush()
    shard.close()
    draft.rename(folder)
    return edge.EdgeShard.load(str(folder), config)


def _explain(folder: Path, error: Exception) -> str:
    if "WouldBlock" in str(error):
        return f"{folder} is open in another process: stop it, or use another REMORA_DATA_DIR"
    return f"{folder} cannot be opened as a memory store: {error}"


def _request(
    name: str, vector: list[float] | edge.SparseVector, condition: edge.Filter, limit: int
) -> edge.QueryRequest:
    query = edge.Query.Nearest(vector, using=name)
    return edge.QueryRequest(limit, query=query, filter=condition, with_payload=True)


def _sparse(vector: Sparse) -> edge.SparseVector:
    return edge.SparseVector(indices=list(vector.indices), values=list(vector.values))


def _hits(points: list[edge.ScoredPoint]) -> list[Hit]:
    return [(point.payload or {}, point.score) for point in points]
