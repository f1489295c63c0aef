"""Vectors of several kinds, and texts that do not have all of them: the same over each engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import AsyncQdrantClient

from app.domain import Change, Shape, Sparse, Vectors, Where
from app.memory.fusion import MULTILINGUAL_SCALE
from app.memory.stores.base import PayloadStore
from app.memory.stores.edge import EdgeEngine
from app.memory.stores.engine import Engine
from app.memory.stores.inmemory import InMemoryEngine
from app.memory.stores.qdrant import QdrantEngine
from tests.build import ALICE, BOB, KEY, a_memory

SHAPE = Shape(2, 2, 2)
X, Y, BETWEEN = (1.0, 0.0), (0.0, 1.0), (0.6, 0.8)
NO_WORDS = Sparse((), ())


@pytest.fixture(params=["edge", "qdrant", "memory"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[PayloadStore[Any]]:
    """An open, empty store for vectors of that shape."""
    edge = EdgeEngine(tmp_path / "store", SHAPE) if request.param == "edge" else None
    client = AsyncQdrantClient(":memory:")
    others: dict[str, Engine[Any]] = {
        "qdrant": QdrantEngine(client, "memory", SHAPE),
        "memory": InMemoryEngine(),
    }
    yield PayloadStore(edge or others[request.param], KEY)
    if edge is not None:
        await edge.close()


async def put(store: PayloadStore[Any], **rows: Vectors) -> None:
    for content, vectors in rows.items():
        assert await store.save(ALICE, [Change(a_memory(content), vectors)]) == [True]


async def found(
    store: PayloadStore[Any], vectors: Vectors, limit: int = 9
) -> dict[str, dict[str, float]]:
    hits = await store.search(ALICE, vectors, Where(), limit)
    return {hit.memory.fact.content: dict(hit.scores) for hit in hits}


@pytest.mark.requirement("M15")
async def test_word_pieces_are_compared_one_by_one(store: PayloadStore[Any]) -> None:
    await put(
        store,
        both=Vectors(X, NO_WORDS, (X, Y)),
        one=Vectors(X, NO_WORDS, (X,)),
        between=Vectors(X, NO_WORDS, (BETWEEN, BETWEEN)),
    )
    # One that weighs three quarters along x, one that weighs a quarter along y.
    seen = await found(store, Vectors(X, NO_WORDS, ((0.75, 0.0), (0.0, 0.25))))
    scores = {name: scores["maxsim"] for name, scores in seen.items()}
    assert scores == pytest.approx({"both": 1, "one": 0.75, "between": 0.65}, abs=0.01)
    assert list(seen) == ["both", "one", "between"]


@pytest.mark.requirement("M15")
async def test_word_pieces_alone_find_nothing(store: PayloadStore[Any]) -> None:
    await put(store, row=Vectors(X, NO_WORDS, (X,)))
    assert await found(store, Vectors((), NO_WORDS, (X,))) == {}


@pytest.mark.requirement("M15")
async def test_a_text_that_one_encoder_does_not_read_is_found_by_the_other(
    store: PayloadStore[Any],
) -> None:
    await put(
        store,
        english=Vectors(BETWEEN, NO_WORDS, (BETWEEN,), Y),
        other=Vectors((), NO_WORDS, (), BETWEEN),
    )
    seen = await found(store, Vectors(X, NO_WORDS, (X,), X))
    assert seen["english"]["cosine"] == pytest.approx(0.6, abs=1e-5)
    assert seen["other"]["cosine"] == pytest.approx(0.6 * MULTILINGUAL_SCALE, abs=1e-5)
    assert "maxsim" not in seen["other"]
    foreign = await found(store, Vectors((), NO_WORDS, (), Y))
    assert foreign["english"]["cosine"] == 1.0
    assert foreign["other"]["cosine"] == pytest.approx(min(0.8 * MULTILINGUAL_SCALE, 1), abs=1e-5)


@pytest.mark.requirement("M9", "M15")
async def test_no_kind_of_vector_reaches_another_owner(store: PayloadStore[Any]) -> None:
    await put(store, mine=Vectors(X, Sparse((7,), (1.0,)), (X,), X))
    asked = Vectors(X, Sparse((7,), (1.0,)), (X,), X)
    assert await found(store, asked) != {}
    assert await store.search(BOB, asked, Where(), 9) == []


async def test_all_kinds_survive_a_change_of_the_row(store: PayloadStore[Any]) -> None:
    row = a_memory("row")
    assert await store.save(ALICE, [Change(row, Vectors(X, NO_WORDS, (X,), X))]) == [True]
    assert await store.save(ALICE, [Change(row, None, expect=row)]) == [True]
    assert (await found(store, Vectors((), NO_WORDS, (X,), X)))["row"]["maxsim"] == pytest.approx(1)
