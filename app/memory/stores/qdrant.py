"""The shared store: a Qdrant server, for more than one process or machine.

Conditions travel with each write, so that the server decides; what it does not say, whether the
condition held, is read back through the row's revision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from qdrant_client import AsyncQdrantClient, models

from app.errors import StoreError
from app.memory.stores.schema import DENSE, INTEGERS, KEYWORDS, LEXICAL, TENANTS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Sequence
    from uuid import UUID

    from app.domain import Sparse, Vectors
    from app.memory.rows import Row
    from app.memory.stores.base import Hit, Write
    from app.memory.stores.plan import Kit
    from app.settings import Settings

T = TypeVar("T")
TIMEOUT: Final = 10  # seconds; a call's own budget is the step's, and shorter


def connect(settings: Settings) -> AsyncQdrantClient:
    """A client for `qdrant_url` (`:memory:` is qdrant-client's own stand-in, for tests)."""
    if settings.qdrant_url == ":memory:":
        return AsyncQdrantClient(":memory:")
    key = settings.qdrant_key.get_secret_value() if settings.qdrant_key else None
    return AsyncQdrantClient(
        url=settings.qdrant_url,
        api_key=key,
        prefer_grpc=settings.qdrant_grpc,
        timeout=TIMEOUT,
        check_compatibility=False,  # it would ask the server in the constructor, blocking
    )


class _Kit:
    """Conditions in the client's own models."""

    def equals(self, key: str, value: str | int) -> models.Filter:
        match = models.MatchValue(value=value)
        return models.Filter(must=[models.FieldCondition(key=key, match=match)])

    def among(self, key: str, values: Sequence[str]) -> models.Filter:
        match = models.MatchAny(any=list(values))
        return models.Filter(must=[models.FieldCondition(key=key, match=match)])

    def between(self, key: str, low: int | None, high: int | None) -> models.Filter:
        bounds = models.Range(gte=low, lt=high)
        return models.Filter(must=[models.FieldCondition(key=key, range=bounds)])

    def ids(self, ids: Iterable[UUID]) -> models.Filter:
        return models.Filter(must=[models.HasIdCondition(has_id=[str(i) for i in ids])])

    def every(self, conditions: Sequence[models.Filter]) -> models.Filter:
        return models.Filter(must=list(conditions))

    def either(self, conditions: Sequence[models.Filter]) -> models.Filter:
        return models.Filter(should=list(conditions))


class QdrantEngine:
    """One collection of a Qdrant server; `open` creates it where it is missing."""

    def __init__(self, client: AsyncQdrantClient, collection: str, dimension: int) -> None:
        self.kit: Kit[models.Filter] = _Kit()
        self._client = client
        self._collection = collection
        self._dimension = dimension
        self._ready = False

    async def nearest(
        self, condition: models.Filter, vectors: Vectors, limit: int
    ) -> tuple[list[Hit], list[Hit]]:
        dense = _request(DENSE, list(vectors.dense), condition, limit)
        lexical = _request(LEXICAL, _sparse(vectors.sparse), condition, limit)
        wanted = [dense, lexical] if vectors.sparse.indices else [dense]
        client = await self._opened()
        found = await _mapped(client.query_batch_points(self._collection, requests=wanted))
        hits = [[(p.payload or {}, p.score) for p in answer.points] for answer in found]
        return hits[0], hits[1] if len(hits) > 1 else []

    async def scroll(self, condition: models.Filter, limit: int) -> list[Row]:
        client = await self._opened()
        order = models.OrderBy(key="created_us", direction=models.Direction.DESC)
        records, _ = await _mapped(
            client.scroll(self._collection, scroll_filter=condition, limit=limit, order_by=order)
        )
        return [record.payload or {} for record in records]

    async def count(self, condition: models.Filter) -> int:
        client = await self._opened()
        counted = await _mapped(client.count(self._collection, count_filter=condition, exact=True))
        return counted.count

    async def write(self, writes: Sequence[Write[models.Filter]]) -> list[bool]:
        client = await self._opened()
        for write in writes:
            await _mapped(self._apply(client, write))
        ids = [str(write.id) for write in writes]
        records = await _mapped(client.retrieve(self._collection, ids, with_payload=["rev"]))
        revisions = {str(r.id): (r.payload or {}).get("rev") for r in records}
        return [revisions.get(str(write.id)) == write.row["rev"] for write in writes]

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _apply(self, client: AsyncQdrantClient, write: Write[models.Filter]) -> None:
        if write.condition is None or write.vectors is not None:
            await self._upsert(client, write)
        else:
            await client.overwrite_payload(
                self._collection, payload=write.row, points=write.condition
            )
        if write.unindex:
            await client.delete_vectors(
                self._collection, [DENSE, LEXICAL], points=self._written(write)
            )

    async def _upsert(self, client: AsyncQdrantClient, write: Write[models.Filter]) -> None:
        vectors: dict[str, Any] = {}
        if write.vectors is not None:
            vectors = {DENSE: list(write.vectors.dense), LEXICAL: _sparse(write.vectors.sparse)}
        only = models.UpdateMode
        await client.upsert(
            self._collection,
            [models.PointStruct(id=str(write.id), vector=vectors, payload=write.row)],
            update_filter=write.condition,
            update_mode=only.INSERT_ONLY if write.condition is None else only.UPDATE_ONLY,
        )

    def _written(self, write: Write[models.Filter]) -> models.Filter:
        return self.kit.every([self.kit.ids([write.id]), self.kit.equals("rev", write.row["rev"])])

    async def _opened(self) -> AsyncQdrantClient:
        """The client, once the collection is known to be there."""
        if not self._ready:
            await _mapped(self._create_missing())
            self._ready = True
        return self._client

    async def _create_missing(self) -> None:
        if await self._client.collection_exists(self._collection):
            return
        params = models.VectorParams(size=self._dimension, distance=models.Distance.COSINE)
        await self._client.create_collection(
            self._collection,
            vectors_config={DENSE: params},
            sparse_vectors_config={
                LEXICAL: models.SparseVectorParams(modifier=models.Modifier.IDF)
            },
            hnsw_config=models.HnswConfigDiff(m=0, payload_m=16),
        )
        tenant = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
        kinds: dict[str, Any] = dict.fromkeys(TENANTS, tenant)
        kinds |= dict.fromkeys(KEYWORDS, models.PayloadSchemaType.KEYWORD)
        kinds |= dict.fromkeys(INTEGERS, models.PayloadSchemaType.INTEGER)
        kinds["pinned"] = models.PayloadSchemaType.BOOL
        for name, kind in kinds.items():
            await self._client.create_payload_index(self._collection, name, kind)


def _request(
    name: str, vector: list[float] | models.SparseVector, condition: models.Filter, limit: int
) -> models.QueryRequest:
    return models.QueryRequest(
        query=vector, using=name, filter=condition, limit=limit, with_payload=True
    )


def _sparse(vector: Sparse) -> models.SparseVector:
    return models.SparseVector(indices=list(vector.indices), values=list(vector.values))


async def _mapped(call: Awaitable[T]) -> T:
    try:
        return await call
    except Exception as error:  # gRPC, HTTP and local mode each raise their own
        raise StoreError("the Qdrant server did not do what was asked") from error
