"""Every store of the registry, one after the other; a new entry is picked up by itself."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Awaitable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
import qdrant_edge

from app.domain import Vectors
from app.memory import STORES, StoreSpec
from app.memory.embed import Encoder, Lexical
from app.memory.embed.hashed import HashedModel
from app.memory.rows import Row
from app.memory.stores.base import PayloadStore
from app.memory.stores.edge import EdgeEngine
from app.memory.stores.engine import Engine, Order, Write
from app.memory.stores.evidence import Hits
from app.ports import Store
from app.settings import Settings
from tests.build import EMBED, KEY

T = TypeVar("T")
SERVER = "qdrant-server"  # a real one, in a collection of its own: QDRANT_URL=http://localhost:6333


@pytest.fixture(scope="session")
def edge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EdgeEngine]:
    """One for all tests: it takes a quarter of a second to make a folder for it."""
    engine = EdgeEngine(tmp_path_factory.mktemp("edge") / "store", EMBED.shape)
    yield engine
    asyncio.run(engine.close())


@pytest.fixture(params=[*STORES, *([SERVER] if "QDRANT_URL" in os.environ else [])])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """An open, empty store."""
    if request.param == SERVER:
        async for opened in _on_server(os.environ["QDRANT_URL"]):
            yield opened
        return
    if request.param == "edge":
        engine: EdgeEngine = request.getfixturevalue("edge")
        yield PayloadStore(engine, KEY)
        everything = qdrant_edge.Filter()
        engine._shard.update(qdrant_edge.UpdateOperation.delete_points_by_filter(everything))
        return
    settings = Settings(data_dir=tmp_path, qdrant_url=":memory:")
    async with STORES[request.param](StoreSpec(settings, EMBED, KEY)) as opened:
        yield opened


@pytest.fixture
def engine(store: Store) -> Engine[Any]:
    """What lies under the store, to look at raw rows and to damage them."""
    found: Engine[Any] | None = getattr(store, "_engine", None)
    if found is None:
        pytest.skip("this store has no engine underneath")
    return found


@pytest.fixture
def busy_store(engine: Engine[Any]) -> Store:
    """The same store, where every task lets all others run before and after each engine call."""
    return PayloadStore(Yielding(engine), KEY)


class Yielding:
    """An engine that gives way, so that tasks interleave wherever they can."""

    exclusive = False

    def __init__(self, engine: Engine[Any]) -> None:
        self.kit = engine.kit
        self._engine = engine

    async def nearest(self, condition: object, vectors: Vectors, limit: int) -> Hits:
        return await self._giving_way(self._engine.nearest(condition, vectors, limit))

    async def scroll(
        self, condition: object, limit: int, *, order: Order | None = Order.NEWEST
    ) -> list[Row]:
        return await self._giving_way(self._engine.scroll(condition, limit, order=order))

    async def count(self, condition: object) -> int:
        return await self._giving_way(self._engine.count(condition))

    async def write(self, writes: Sequence[Write[Any]]) -> list[bool]:
        return await self._giving_way(self._engine.write(writes))

    async def delete(self, condition: object) -> None:
        await self._giving_way(self._engine.delete(condition))

    async def _giving_way(self, work: Awaitable[T]) -> T:
        await asyncio.sleep(0)
        done = await work
        await asyncio.sleep(0)
        return done


async def _on_server(url: str) -> AsyncIterator[Store]:
    from app.memory.stores.qdrant import connect  # noqa: PLC0415 only where there is a server

    settings = Settings(qdrant_url=url)
    embed = Encoder(HashedModel(), Lexical())
    embed.identity = f"throw-away-{uuid.uuid4().hex}"
    spec = StoreSpec(settings, embed, KEY)
    async with STORES["qdrant"](spec) as opened:
        yield opened
    client = connect(settings)
    await client.delete_collection(spec.collection)
    await client.close()
