"""The shared store: a Qdrant server, for more than one process or machine.

Conditions travel with each write, so that the server decides; what it does not say, whether the
condition held, is read back through the row's revision.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any, Final, TypeVar
from uuid import UUID

from qdrant_client import AsyncQdrantClient, models

from app.errors import StoreError
from app.memory.stores.engine import Order
from app.memory.stores.moving import PREFIX, warn_of
from app.memory.stores.qdrant_schema import payload_indexes, vector_params
from app.memory.stores.schema import DENSE, LEXICAL, MEASURES, dense_parts, with_id

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Sequence

    from app.domain import Shape, Sparse, Vectors
    from app.memory.rows import Row
    from app.memory.stores.engine import Write
    from app.memory.stores.evidence import Hits
    from app.memory.stores.plan import Kit
    from app.settings import Settings

T = TypeVar("T")
TIMEOUT: Final = 10  # seconds; a call's own budget is the step's, and shorter
# Servers before it know no `update_mode`, and over gRPC they would pass over it in silence.
OLDEST: Final = (1, 17)
# The server may hold collections of other programs: this is how `StoreSpec` names ours.
_OURS: Final = re.compile(rf"{PREFIX}[A-Za-z0-9-]*-[0-9a-f]{{8}}")
# In the metadata of a collection that `remora reindex` emptied into another: the other's name.
MOVED: Final = "moved_to"
_DIRECTIONS: Final = {Order.NEWEST: models.Direction.DESC, Order.OLDEST: models.Direction.ASC}


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

    def differs(self, key: str, value: str) -> models.Filter:
        match = models.MatchValue(value=value)
        return models.Filter(must_not=[models.FieldCondition(key=key, match=match)])

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
    """One collection of a Qdrant server; the first use prepares it.

    One whose rows were brought to another (`remora reindex`) is refused, unless `even_moved`.
    """

    exclusive = False

    def __init__(
        self,
        client: AsyncQdrantClient,
        collection: str,
        shape: Shape,
        *,
        even_moved: bool = False,
    ) -> None:
        self.kit: Kit[models.Filter] = _Kit()
        self._even_moved = even_moved
        self._client = client
        self._collection = collection
        self._shape = shape
        self._ready = False

    async def nearest(self, condition: models.Filter, vectors: Vectors, limit: int) -> Hits:
        wanted = dense_parts(vectors)
        if vectors.sparse.indices:
            wanted[LEXICAL] = _sparse(vectors.sparse)
        requests = [_request(name, part, condition, limit) for name, part in wanted.items()]
        client = await self._prepared()
        found = await mapped(client.query_batch_points(self._collection, requests=requests))
        return {
            MEASURES[name]: [(UUID(str(point.id)), point.score) for point in answer.points]
            for name, answer in zip(wanted, found, strict=True)
        }

    async def scroll(
        self, condition: models.Filter, limit: int, *, order: Order | None = Order.NEWEST
    ) -> list[Row]:
        client = await self._prepared()
        by = models.OrderBy(key="created_us", direction=_DIRECTIONS[order]) if order else None
        records, _ = await mapped(
            client.scroll(
                self._collection,
                scroll_filter=condition,
                limit=limit,
                order_by=by,
            )
        )
        return [with_id(record.payload, record.id) for record in records]

    async def count(self, condition: models.Filter) -> int:
        client = await self._prepared()
        counted = await mapped(client.count(self._collection, count_filter=condition, exact=True))
        return counted.count

    async def write(self, writes: Sequence[Write[models.Filter]]) -> list[bool]:
        if not writes:
            return []
        client = await self._prepared()
        # Strong: every replica applies conditional writes in one order, so all decide alike.
        await mapped(
            client.batch_update_points(
                self._collection,
                [_operation(write) for write in writes],
                ordering=models.WriteOrdering.STRONG,
            )
        )
        ids = [str(write.id) for write in writes]
        records = await mapped(client.retrieve(self._collection, ids, with_payload=["rev"]))
        revisions = {str(r.id): (r.payload or {}).get("rev") for r in records}
        return [revisions.get(str(write.id)) == write.row.get("rev") for write in writes]

    async def delete(self, condition: models.Filter) -> None:
        client = await self._prepared()
        selector = models.FilterSelector(filter=condition)
        strong = models.WriteOrdering.STRONG
        await mapped(client.delete(self._collection, selector, ordering=strong))

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _prepared(self) -> AsyncQdrantClient:
        """The client, once the server and the collection are known to be fit."""
        if not self._ready:
            _check_version((await mapped(self._client.info())).version)
            await mapped(self._create_missing())
            self._ready = True
            with contextlib.suppress(Exception):  # a key for one collection may not see others
                warn_of(await older(self._client, self._collection), self._collection)
        return self._client

    async def _create_missing(self) -> None:
        """What is not there yet; another process may be doing the same at this moment."""
        client, name = self._client, self._collection
        if not await client.collection_exists(name):
            try:
                await self._create()
            except Exception:
                if not await client.collection_exists(name):
                    raise
        info = await client.get_collection(name)
        if _moved(info) and not self._even_moved:  # what was forgotten since is still in it
            raise StoreError("the memories of this model were moved to another: run remora reindex")
        for field, kind in payload_indexes().items():
            if field not in info.payload_schema:
                await client.create_payload_index(name, field, kind)

    async def _create(self) -> None:
        await self._client.create_collection(
            self._collection,
            vectors_config=vector_params(self._shape),
            sparse_vectors_config={
                LEXICAL: models.SparseVectorParams(modifier=models.Modifier.IDF)
            },
            # No search goes beyond one tenant, so no graph does.
            hnsw_config=models.HnswConfigDiff(m=0, payload_m=16),
        )


async def older(client: AsyncQdrantClient, name: str) -> list[str]:
    """Other collections of ours whose rows have not been brought to another yet."""
    known = (await client.get_collections()).collections
    names = sorted(c.name for c in known if c.name != name and _OURS.fullmatch(c.name))
    infos = [await client.get_collection(other) for other in names]
    return [n for n, info in zip(names, infos, strict=True) if _is_ours(info) and not _moved(info)]


def _is_ours(info: models.CollectionInfo) -> bool:
    dense, sparse = info.config.params.vectors, info.config.params.sparse_vectors
    return isinstance(dense, dict) and DENSE in dense and LEXICAL in (sparse or {})


def _moved(info: models.CollectionInfo) -> bool:
    return bool((info.config.metadata or {}).get(MOVED))


def _operation(write: Write[models.Filter]) -> models.UpdateOperation:
    if write.condition is None:
        return _upsert(write, models.UpdateMode.INSERT_ONLY)
    if write.vectors is not None or write.unindex:
        return _upsert(write, models.UpdateMode.UPDATE_ONLY)
    change = models.SetPayload(payload=write.row, filter=write.condition)
    return models.OverwritePayloadOperation(overwrite_payload=change)


def _upsert(write: Write[models.Filter], mode: models.UpdateMode) -> models.UpsertOperation:
    """The whole point: vectors that are not given are dropped."""
    vectors: dict[str, Any] = {}
    if write.vectors is not None:
        vectors = dense_parts(write.vectors) | {LEXICAL: _sparse(write.vectors.sparse)}
    point = models.PointStruct(id=str(write.id), vector=vectors, payload=write.row)
    points = models.PointsList(points=[point], update_filter=write.condition, update_mode=mode)
    return models.UpsertOperation(upsert=points)


def _check_version(version: str) -> None:
    numbers = tuple(int(part) for part in version.split(".")[:2])
    if numbers < OLDEST:
        raise StoreError(f"the Qdrant server is {version}: {OLDEST[0]}.{OLDEST[1]} is the oldest")


def _request(
    name: str, vector: list[float] | models.SparseVector, condition: models.Filter, limit: int
) -> models.QueryRequest:
    return models.QueryRequest(
        query=vector, using=name, filter=condition, limit=limit, with_payload=False
    )


def _sparse(vector: Sparse) -> models.SparseVector:
    return models.SparseVector(indices=list(vector.indices), values=list(vector.values))


async def mapped(call: Awaitable[T]) -> T:
    """The client's answer; raises `StoreError` for whatever went wrong."""
    try:
        return await call
    except StoreError:
        raise
    except Exception as error:  # noqa: BLE001 gRPC, HTTP and local mode each raise their own
        reason = f"the Qdrant server did not do what was asked ({_reason(error)})"
        raise StoreError(reason) from None


def _reason(error: Exception) -> str:
    """The status, or what kind of error it is: a server's own words may quote a row."""
    code = getattr(error, "code", None)
    if callable(code):
        return str(code().name)
    return str(getattr(error, "status_code", None) or type(error).__name__)
