"""A store in plain memory: for tests, for trying things, and as the contract's second opinion."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from app.errors import StoreError
from app.memory.fusion import BM25, COSINE, MAXSIM, MULTILINGUAL
from app.memory.rows import wire_id
from app.memory.stores.engine import Order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from uuid import UUID

    from app.domain import Sparse, Vectors
    from app.memory.rows import Row
    from app.memory.stores.engine import Write
    from app.memory.stores.evidence import Hit, Hits
    from app.memory.stores.plan import Kit

    Condition = Callable[[UUID, Row], bool]


class _Kit:
    """Conditions are plain predicates."""

    def equals(self, key: str, value: str | int) -> Condition:
        return lambda _, row: row.get(key) == value

    def differs(self, key: str, value: str) -> Condition:
        return lambda _, row: row.get(key) != value

    def among(self, key: str, values: Sequence[str]) -> Condition:
        wanted = set(values)

        def holds(_: UUID, row: Row) -> bool:
            value = row.get(key)
            return not wanted.isdisjoint(value if isinstance(value, list) else [value])

        return holds

    def between(self, key: str, low: int | None, high: int | None) -> Condition:
        floor = -math.inf if low is None else low
        ceiling = math.inf if high is None else high
        return lambda _, row: isinstance(row.get(key), int) and floor <= row[key] < ceiling

    def ids(self, ids: Iterable[UUID]) -> Condition:
        wanted = set(ids)
        return lambda key, _: key in wanted

    def every(self, conditions: Sequence[Condition]) -> Condition:
        return lambda key, row: all(holds(key, row) for holds in conditions)

    def either(self, conditions: Sequence[Condition]) -> Condition:
        return lambda key, row: any(holds(key, row) for holds in conditions)


class InMemoryEngine:
    """Rows and vectors in two dicts; brute-force search."""

    exclusive = True

    def __init__(self) -> None:
        self.kit: Kit[Condition] = _Kit()
        self._rows: dict[UUID, Row] = {}
        self._vectors: dict[UUID, Vectors] = {}

    async def nearest(self, condition: Condition, vectors: Vectors, limit: int) -> Hits:
        self._check(vectors)
        known = {k: v for k, v in self._vectors.items() if condition(k, self._rows[k])}
        weights = self._inverse_document_frequency(vectors.sparse)
        bm25 = {k: _weighted_dot(weights, v.sparse) for k, v in known.items()}
        found = {
            COSINE: _dots(vectors.dense, {k: v.dense for k, v in known.items()}),
            MULTILINGUAL: _dots(
                vectors.multilingual, {k: v.multilingual for k, v in known.items()}
            ),
            MAXSIM: _dots(vectors.tokens, {k: v.tokens for k, v in known.items()}),
            BM25: {k: score for k, score in bm25.items() if score > 0},
        }
        return {name: self._best(scores, limit) for name, scores in found.items()}

    async def scroll(
        self, condition: Condition, limit: int, *, order: Order | None = Order.NEWEST
    ) -> list[Row]:
        rows = [self._row(key) for key, row in self._rows.items() if condition(key, row)]
        if order is not None:
            rows = [row for row in rows if isinstance(row.get("created_us"), int)]
            rows.sort(key=lambda row: row["created_us"], reverse=order is Order.NEWEST)
        return rows[:limit]

    async def count(self, condition: Condition) -> int:
        return sum(condition(key, row) for key, row in self._rows.items())

    async def write(self, writes: Sequence[Write[Condition]]) -> list[bool]:
        return [self._apply(write) for write in writes]

    async def delete(self, condition: Condition) -> None:
        for key in [key for key, row in self._rows.items() if condition(key, row)]:
            del self._rows[key]
            self._vectors.pop(key, None)

    def _apply(self, write: Write[Condition]) -> bool:
        known = self._rows.get(write.id)
        if write.condition is None:
            allowed = known is None
        else:
            allowed = known is not None and write.condition(write.id, known)
        if allowed:
            if write.vectors is not None:
                self._check(write.vectors)
                self._vectors[write.id] = write.vectors
            elif write.unindex:
                self._vectors.pop(write.id, None)
            self._rows[write.id] = dict(write.row)
        return allowed

    def _check(self, vectors: Vectors) -> None:
        known = next(iter(self._vectors.values()), vectors)
        if vectors.dense and known.dense and len(vectors.dense) != len(known.dense):
            raise StoreError("a vector of another model")

    def _row(self, key: UUID) -> Row:
        return self._rows[key] | {"id": wire_id(key)}

    def _best(self, scores: dict[UUID, float], limit: int) -> list[Hit]:
        best = sorted(scores, key=scores.__getitem__, reverse=True)[:limit]
        return [(key, scores[key]) for key in best]

    def _inverse_document_frequency(self, query: Sparse) -> dict[int, float]:
        """Qdrant's IDF modifier: ln(1 + (N - n + 0.5) / (n + 0.5))."""
        total = len(self._vectors)
        seen = dict.fromkeys(query.indices, 0)
        for vectors in self._vectors.values():
            for index in vectors.sparse.indices:
                if index in seen:
                    seen[index] += 1
        return {i: math.log(1 + (total - n + 0.5) / (n + 0.5)) for i, n in seen.items()}


def _dots(query: Sequence[Any], documents: dict[UUID, Sequence[Any]]) -> dict[UUID, float]:
    """Dot products; of lists of tokens, the sum over the query's of the best of the document's."""
    if not query:
        return {}
    asked = np.atleast_2d(np.asarray(query))
    return {
        key: float((asked @ np.atleast_2d(np.asarray(document)).T).max(axis=1).sum())
        for key, document in documents.items()
        if document
    }


def _weighted_dot(weights: dict[int, float], document: Sparse) -> float:
    pairs = zip(document.indices, document.values, strict=True)
    return sum(weights.get(index, 0.0) * value for index, value in pairs)
