"""The embedded store: Qdrant's own engine in this process (`qdrant-edge-py`), one folder.

Edge 0.9 holds the GIL in every call, so a thread would only add a wait: calls run where they are
made. Thus a condition and its write are one step, and a conditional write is atomic. `optimize()`
is never called: it takes seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import qdrant_edge as edge
import structlog

from app.errors import ConfigurationError, StoreError
from app.folder import RESERVE
from app.memory.stores.engine import Order
from app.memory.stores.schema import (
    ACROSS,
    DENSE,
    HOT,
    INTEGERS,
    LEXICAL,
    MEASURES,
    TENANTS,
    TOKENS,
    dense_parts,
    with_id,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from uuid import UUID

    from app.domain import Shape, Sparse, Vectors
    from app.memory.rows import Row
    from app.memory.stores.engine import Write
    from app.memory.stores.evidence import Hit, Hits
    from app.memory.stores.plan import Kit

_log = structlog.get_logger()

# Edge writes through memory maps: on a full disk the kernel kills the process (SIGBUS). So writes
# stop while there is still room for what is being written; forgetting may use a part of that room.
FORGETTING: Final = 0.25
# The write-ahead log and the room of overwritten rows grow until a flush, which takes about 50 ms.
FLUSH_EVERY: Final = 5000
# Writes between two turns of the event loop: about 5 ms.
BURST: Final = 32
_DIRECTIONS: Final = {Order.NEWEST: edge.Direction.Desc, Order.OLDEST: edge.Direction.Asc}


class _Kit:
    """Conditions in Edge's own classes."""

    def equals(self, key: str, value: str | int) -> edge.Filter:
        return edge.Filter(must=[edge.FieldCondition(key, match=edge.MatchValue(value))])

    def differs(self, key: str, value: str) -> edge.Filter:
        return edge.Filter(must_not=[edge.FieldCondition(key, match=edge.MatchValue(value))])

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
    """One shard in one folder. Writes are refused when less than `reserve` bytes are free."""

    exclusive = True

    def __init__(self, folder: Path, shape: Shape, reserve: int = RESERVE) -> None:
        self.kit: Kit[edge.Filter] = _Kit()
        self._folder = folder
        self._reserve = reserve
        self._shard = _open(folder, shape, reserve)
        self._unflushed = 0

    async def nearest(self, condition: edge.Filter, vectors: Vectors, limit: int) -> Hits:
        wanted = dense_parts(vectors)
        if vectors.sparse.indices:
            wanted[LEXICAL] = _sparse(vectors.sparse)
        requests = [_request(name, part, condition, limit) for name, part in wanted.items()]
        with mapped():
            found = self._shard.query_batch(edge.QueryBatchRequest(requests))
        return {MEASURES[name]: _hits(hits) for name, hits in zip(wanted, found, strict=True)}

    async def scroll(
        self, condition: edge.Filter, limit: int, *, order: Order | None = Order.NEWEST
    ) -> list[Row]:
        by = edge.OrderBy("created_us", _DIRECTIONS[order]) if order else None
        request = edge.ScrollRequest(limit=limit, filter=condition, order_by=by, with_payload=True)
        with mapped():
            records, _ = self._shard.scroll(request)
        return [with_id(record.payload, record.id) for record in records]

    async def count(self, condition: edge.Filter) -> int:
        with mapped():
            return self._shard.count(edge.CountRequest(filter=condition))

    async def write(self, writes: Sequence[Write[edge.Filter]]) -> list[bool]:
        done = []
        for number, write in enumerate(writes, 1):
            with mapped():
                self._check_room(self._reserve * (FORGETTING if write.unindex else 1))
                done.append(self._apply(write))
            if number % BURST == 0:
                await asyncio.sleep(0)
        self._unflushed += len(writes)
        if self._unflushed >= FLUSH_EVERY:
            self._flush()
        return done

    async def delete(self, condition: edge.Filter) -> None:
        with mapped():
            self._check_room(self._reserve * FORGETTING)
            self._shard.update(edge.UpdateOperation.delete_points_by_filter(condition))

    async def close(self) -> None:
        """Flush and let go of the folder."""
        self._flush()
        with mapped():
            self._shard.close()

    def _check_room(self, needed: float) -> None:
        try:
            free = shutil.disk_usage(self._folder).free
        except OSError as error:
            raise StoreError(f"the store's folder is gone ({error.strerror})") from None
        if free < needed:
            raise StoreError("the disk is full")

    def _apply(self, write: Write[edge.Filter]) -> bool:
        if write.condition is None:
            if self._shard.retrieve([write.id], with_payload=False, with_vector=False):
                return False
            self._upsert(write)
        elif not self._shard.count(edge.CountRequest(filter=write.condition)):
            return False
        elif write.vectors is not None or write.unindex:
            self._upsert(write)
        else:
            self._shard.update(edge.UpdateOperation.overwrite_payload([write.id], write.row))
        return True

    def _upsert(self, write: Write[edge.Filter]) -> None:
        """The whole point: vectors that are not given are dropped."""
        vectors: dict[str, Any] = {}
        if write.vectors is not None:
            vectors = dense_parts(write.vectors) | {LEXICAL: _sparse(write.vectors.sparse)}
        point = edge.Point(write.id, vectors, write.row)
        self._shard.update(edge.UpdateOperation.upsert_points([point]))

    def _flush(self) -> None:
        """What was written is safe in the write-ahead log, so a failure here costs nothing."""
        self._unflushed = 0
        try:
            with mapped():
                self._shard.flush()
        except StoreError as error:
            _log.warning("store_not_flushed", reason=str(error))


@contextlib.contextmanager
def mapped() -> Iterator[None]:
    """Edge raises plain `Exception` for everything, and a panic that is not even that."""
    try:
        yield
    except StoreError:
        raise
    except BaseException as error:
        if not is_edges(error):
            raise
        raise StoreError("the embedded store failed") from error


def is_edges(error: BaseException) -> bool:
    """Whether Edge raised it, and not Python's interpreter (Ctrl-C)."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def _open(folder: Path, shape: Shape, reserve: int) -> edge.EdgeShard:
    config = edge.EdgeConfig(
        vectors=_params(shape),
        sparse_vectors={LEXICAL: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
        # Where it is called, that is: its pool costs two switches of threads a search.
        max_search_threads=1,
    )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(folder.parent).free
        if free >= reserve:
            if not (folder.exists() and any(folder.iterdir())):
                _create(folder, config)
            shard = edge.EdgeShard.load(str(folder), config)
            _index(shard)
            return shard
    except BaseException as error:
        if not is_edges(error):
            raise
        raise ConfigurationError(explain(folder, error)) from error
    raise ConfigurationError(f"{folder}: less than {reserve >> 20} MiB are free on its disk")


def _params(shape: Shape) -> dict[str, edge.EdgeVectorParams]:
    params = {DENSE: edge.EdgeVectorParams(size=shape.dense, distance=edge.Distance.Cosine)}
    if shape.multilingual:
        size = shape.multilingual
        params[ACROSS] = edge.EdgeVectorParams(size=size, distance=edge.Distance.Cosine)
    if shape.tokens:
        params[TOKENS] = edge.EdgeVectorParams(
            size=shape.tokens,
            distance=edge.Distance.Dot,  # a query's tokens are as long as they weigh
            multivector_config=edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim),
            datatype=edge.VectorStorageDatatype.Float16,
            on_disk=True,  # only looked at for what another search found
        )
    return params


def _create(folder: Path, config: edge.EdgeConfig) -> None:
    """Built beside its place and moved there whole, so that a cut start leaves no half shard."""
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder.parent) as draft:
        shard = edge.EdgeShard.create(draft, config)
        _index(shard)
        shard.flush()
        shard.close()
        Path(draft).rename(folder)


def _index(shard: edge.EdgeShard) -> None:
    """The indexes that are not there yet: an older version knew fewer."""
    known = shard.info().payload_schema
    wanted: dict[str, Any] = {
        **dict.fromkeys(TENANTS, edge.KeywordIndexParams(is_tenant=True)),
        **dict.fromkeys(HOT, edge.PayloadSchemaType.Keyword),
        **dict.fromkeys(INTEGERS, edge.PayloadSchemaType.Integer),
    }
    for name in wanted.keys() - known.keys():
        shard.update(edge.UpdateOperation.create_field_index(name, wanted[name]))


def explain(folder: Path, error: BaseException) -> str:
    """One line: which folder cannot be opened, and why."""
    reason = str(error) or type(error).__name__
    if "WouldBlock" in reason:
        return f"{folder} is open in another process: stop it, or use another REMORA_DATA_DIR"
    return f"{folder} cannot be opened as a memory store: {reason.splitlines()[0][:300]}"


def _request(
    name: str, vector: list[float] | edge.SparseVector, condition: edge.Filter, limit: int
) -> edge.QueryRequest:
    query = edge.Query.Nearest(vector, using=name)
    return edge.QueryRequest(limit, query=query, filter=condition)


def _sparse(vector: Sparse) -> edge.SparseVector:
    return edge.SparseVector(indices=list(vector.indices), values=list(vector.values))


def _hits(points: list[edge.ScoredPoint]) -> list[Hit]:
    # Only UUIDs are ever written.
    return [(cast("UUID", point.id), point.score) for point in points]
