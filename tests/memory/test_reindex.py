"""Rows on their way from the collection of one model to that of another, for both engines."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from qdrant_client import AsyncQdrantClient

from app.domain import Block, Change, State, Vectors, Where, utc_now
from app.errors import StoreError
from app.memory.reindex import Tally, reindex
from app.memory.stores import moving
from app.memory.stores.edge import EdgeEngine
from app.memory.stores.edge_moving import EdgeCollections
from app.memory.stores.engine import Engine
from app.memory.stores.moving import Collections
from app.memory.stores.qdrant import QdrantEngine
from app.memory.stores.qdrant_moving import QdrantCollections
from tests.build import ALICE, EMBED, EVERY_STATE, a_memory, contents, later, vectors_of
from tests.memory.two_models import (
    ELSEWHERE,
    NAME,
    OLD,
    OLD_NAME,
    fill,
    put,
    rows_of,
    store_of,
)

Open = Callable[[str], AbstractAsyncContextManager[Engine[Any]]]
DIMENSIONS = {OLD_NAME: OLD.shape, NAME: EMBED.shape}


class Place:
    """Where collections are, and a way to open one as a server would."""

    def __init__(self, collections: Collections[Any], opened: Open) -> None:
        self.collections = collections
        self.open = opened


@pytest.fixture(params=["edge", "qdrant"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    client = AsyncQdrantClient(":memory:")

    @asynccontextmanager
    async def on_disk(name: str) -> AsyncIterator[Engine[Any]]:
        engine = EdgeEngine(tmp_path / name, DIMENSIONS.get(name, OLD.shape))
        yield engine
        await engine.close()

    @asynccontextmanager
    async def on_server(name: str) -> AsyncIterator[Engine[Any]]:
        yield QdrantEngine(client, name, DIMENSIONS.get(name, OLD.shape))

    if request.param == "edge":
        yield Place(EdgeCollections(tmp_path / NAME, EMBED.shape), on_disk)
    else:
        yield Place(QdrantCollections(client, NAME, EMBED.shape), on_server)
    await client.close()


class Failing:
    """An encoder that breaks after so many calls."""

    identity, shape = EMBED.identity, EMBED.shape

    def __init__(self, calls: int) -> None:
        self.calls = calls

    async def documents(
        self, texts: Sequence[str], own: Sequence[str] | None = None
    ) -> list[Vectors]:
        self.calls -= 1
        if self.calls < 0:
            raise StoreError("broken")
        return await EMBED.documents(texts, own)

    async def query(self, text: str) -> Vectors:
        return await EMBED.query(text)

    def words(self, text: str) -> Sequence[int]:
        return EMBED.words(text)


@pytest.fixture
def two_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (moving, "app.memory.stores.edge_moving", "app.memory.stores.qdrant_moving"):
        name = module if isinstance(module, str) else module.__name__
        monkeypatch.setattr(f"{name}.PAGE", 2)


@pytest.mark.requirement("M4")
@pytest.mark.fault(36)
@pytest.mark.usefixtures("two_a_page")
async def test_every_row_comes_over_word_for_word_and_only_indexed_ones_have_vectors(
    place: Place,
) -> None:
    async with place.open(OLD_NAME) as engine:
        ids = await fill(engine)
    before = await rows_of(place.collections, OLD_NAME)
    told: list[int] = []
    tally, _ = await reindex(
        place.collections, EMBED, progress=lambda tally: told.append(tally.read)
    )
    after = await rows_of(place.collections, NAME)
    assert {k: s.row for k, s in after.items()} == {k: s.row for k, s in before.items()}
    unreadable = {ids["empty"], ids["odd"]}  # they had a vector, but there is no text
    assert {k: s.indexed for k, s in after.items()} == {
        k: s.indexed and k not in unreadable for k, s in before.items()
    }
    assert not after[ids["gone"]].indexed
    assert (tally.read, tally.written, tally.damaged) == (len(before), len(before), 3)
    assert tally.embedded == sum(s.indexed for s in after.values())
    assert told == sorted(told)
    assert told[-1] == len(before)


@pytest.mark.requirement("M4")
async def test_what_came_over_is_found_with_the_new_model_and_by_nobody_else(place: Place) -> None:
    async with place.open(OLD_NAME) as engine:
        ids = await fill(engine)
    await reindex(place.collections, EMBED)
    async with place.open(NAME) as engine:
        store = store_of(engine)
        tea = await vectors_of("The user likes tea.")
        hits = await store.search(ALICE, tea, Where(states=frozenset({State.ACTIVE})), 5)
        assert (hits[0].memory.id, hits[0].memory.usage.count) == (ids["tea"], 3)
        assert hits[0].scores["cosine"] == pytest.approx(1)
        assert ids["elsewhere"] not in {hit.memory.id for hit in hits}
        assert await contents(store, ELSEWHERE) == ["The user likes tea."]
        assert (await store.pins.get(ALICE, ["turn"]))["turn"].text == "a line about tea"


@pytest.mark.requirement("M4")
async def test_the_switch_is_the_end_of_it(place: Place) -> None:
    async with place.open(OLD_NAME) as engine:
        await put(engine, a_memory("tea"))
    await reindex(place.collections, EMBED)
    assert await place.collections.older() == []
    async with place.open(NAME) as engine:
        await put(engine, a_memory("coffee", at=later(1)), embed=EMBED)
    tally, left = await reindex(place.collections, EMBED)
    assert (tally, left) == (Tally(), [])
    async with place.open(NAME) as engine:
        assert await contents(store_of(engine), ALICE) == ["coffee", "tea"]


@pytest.mark.requirement("M4")
async def test_what_was_learned_meanwhile_stays_and_the_newest_of_a_row_wins(place: Place) -> None:
    one, two, own = a_memory("one"), a_memory("two"), a_memory("own", at=later(1))
    async with place.open(OLD_NAME) as engine:
        await put(engine, one, a_memory("two, later", id=two.id, updated_at=later(9)))
    async with place.open(NAME) as engine:
        changed = a_memory("one, later", id=one.id, updated_at=later(9))
        await put(engine, own, two, changed, embed=EMBED)
        await store_of(engine).pins.put(
            ALICE, "turn", Block("two", (two.id,), 1), read=utc_now(), until=None
        )
    tally, _ = await reindex(place.collections, EMBED)
    assert (tally.read, tally.written, tally.embedded) == (2, 1, 1)
    async with place.open(NAME) as engine:
        store = store_of(engine)
        assert sorted(await contents(store, ALICE)) == ["one, later", "own", "two, later"]
        hits = await store.search(ALICE, await vectors_of("two, later"), Where(), 1)
        assert hits[0].scores["cosine"] == pytest.approx(1)
        assert await store.pins.get(ALICE, ["turn"]) == {}


@pytest.mark.requirement("M4", "M25", "M40")
async def test_what_was_forgotten_in_either_place_is_not_shown_again(place: Place) -> None:
    first, second = a_memory("first"), a_memory("second")
    until = utc_now() + timedelta(days=1)
    for name, embed, gone in ((OLD_NAME, OLD, first), (NAME, EMBED, second)):
        async with place.open(name) as engine:
            await put(engine, first, second, embed=embed)
            store = store_of(engine)
            for turn, row in (("a", first), ("b", second)):
                block = Block(row.fact.content, (row.id,), 1)
                await store.pins.put(ALICE, turn, block, read=utc_now(), until=until)
            await store.forget(ALICE, Where(ids=frozenset({gone.id})), later(60))
    await reindex(place.collections, EMBED)
    async with place.open(NAME) as engine:
        store = store_of(engine)
        assert await contents(store, ALICE) == []
        found = (await store.find(ALICE, EVERY_STATE)).memories
        assert {row.fact.content for row in found} == {""}
        assert await store.pins.get(ALICE, ["a", "b"]) == {}
        assert await engine.count(engine.kit.every([])) == 2
    assert not any(s.indexed for s in (await rows_of(place.collections, NAME)).values())


@pytest.mark.requirement("M4")
@pytest.mark.fault(36)
@pytest.mark.usefixtures("two_a_page")
async def test_a_run_that_breaks_leaves_the_old_one_whole_and_is_run_again(place: Place) -> None:
    async with place.open(OLD_NAME) as engine:
        await put(engine, *(a_memory(f"row {n}") for n in range(7)))
    async with place.open(NAME) as engine:
        await put(engine, own := a_memory("own"), embed=EMBED)
    before = await rows_of(place.collections, OLD_NAME)
    with pytest.raises(StoreError, match="broken"):
        await reindex(place.collections, Failing(2))
    assert await place.collections.older() == [OLD_NAME]
    assert await rows_of(place.collections, OLD_NAME) == before
    async with place.open(OLD_NAME) as engine:
        assert len(await contents(store_of(engine), ALICE)) == 7
    await reindex(place.collections, EMBED)
    after = await rows_of(place.collections, NAME)
    assert after.keys() == before.keys() | {own.id}
    assert all(stored.indexed for stored in after.values())


@pytest.mark.requirement("M4")
async def test_several_older_ones_become_one(place: Place) -> None:
    same = a_memory("as it was")
    async with place.open(OLD_NAME) as engine:
        await put(engine, same, a_memory("one"))
    async with place.open(other := "memory-older-77-00000000") as engine:
        await put(engine, a_memory("as it is", id=same.id, updated_at=later(1)), a_memory("two"))
    assert await place.collections.older() == [OLD_NAME, other]
    await reindex(place.collections, EMBED)
    async with place.open(NAME) as engine:
        assert sorted(await contents(store_of(engine), ALICE)) == ["as it is", "one", "two"]


@pytest.mark.requirement("M4")
async def test_back_to_the_old_model_with_all_that_happened_since(place: Place) -> None:
    row = a_memory("kept")
    async with place.open(OLD_NAME) as engine:
        await put(engine, row, gone := a_memory("gone"))
    await reindex(place.collections, EMBED)
    async with place.open(NAME) as engine:
        store = store_of(engine)
        await store.forget(ALICE, Where(ids=frozenset({gone.id})), later(60))
        new = a_memory("new", at=later(1))
        assert await store.save(ALICE, [Change(new, await vectors_of("new"))]) == [True]
    await reindex(_for_old(place.collections), OLD)
    async with place.open(OLD_NAME) as engine:
        assert await contents(store_of(engine), ALICE) == ["new", "kept"]


def _for_old(collections: Any) -> Collections[Any]:
    if isinstance(collections, EdgeCollections):
        return EdgeCollections(collections._folder.with_name(OLD_NAME), OLD.shape)
    return QdrantCollections(collections._client, OLD_NAME, OLD.shape)


class Meddler:
    """An engine into which somebody else writes between the look and the write."""

    def __init__(self, engine: Engine[Any]) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    async def write(self, writes: Sequence[Any]) -> list[bool]:
        for write in writes:
            await put(self._engine, a_memory("theirs", id=write.id), embed=EMBED)
        return await self._engine.write(writes)


@pytest.mark.requirement("M4")
async def test_whoever_writes_meanwhile_ends_it_without_a_switch(place: Place) -> None:
    async with place.open(OLD_NAME) as engine:
        await put(engine, a_memory("mine", id=uuid4()))
    drafted = place.collections.draft

    @asynccontextmanager
    async def meddled() -> AsyncIterator[Any]:
        async with drafted() as engine:
            yield Meddler(engine)

    place.collections.draft = meddled  # type: ignore[method-assign]
    with pytest.raises(StoreError, match="stop every server"):
        await reindex(place.collections, EMBED)
    assert await place.collections.older() == [OLD_NAME]
