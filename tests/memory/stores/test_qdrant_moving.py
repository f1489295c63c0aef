"""Collections on a server: what is ours, what has moved, and what is refused then."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import structlog
from qdrant_client import AsyncQdrantClient, models

from app.errors import StoreError
from app.memory.reindex import reindex
from app.memory.stores.qdrant import MOVED, QdrantEngine
from app.memory.stores.qdrant_moving import QdrantCollections
from tests.build import ALICE, EMBED, a_memory, contents
from tests.memory.two_models import NAME, OLD, OLD_NAME, put, store_of


@pytest.fixture
async def client() -> AsyncIterator[AsyncQdrantClient]:
    opened = AsyncQdrantClient(":memory:")
    yield opened
    await opened.close()


@pytest.fixture
def collections(client: AsyncQdrantClient) -> QdrantCollections:
    return QdrantCollections(client, NAME, EMBED.shape)


def old(client: AsyncQdrantClient) -> QdrantEngine:
    return QdrantEngine(client, OLD_NAME, OLD.shape)


@pytest.mark.requirement("M4")
async def test_what_other_programs_keep_there_is_none_of_ours(
    client: AsyncQdrantClient, collections: QdrantCollections
) -> None:
    plain = models.VectorParams(size=4, distance=models.Distance.DOT)
    for name in ("documents", "memory-of-mine", "memory-a-00000003"):
        await client.create_collection(name, vectors_config=plain)
    await put(old(client), a_memory("tea"))
    assert await collections.older() == [OLD_NAME]


@pytest.mark.requirement("M4", "M40")
async def test_what_moved_is_marked_and_refused_until_it_is_taken_back(
    client: AsyncQdrantClient, collections: QdrantCollections
) -> None:
    await put(old(client), a_memory("tea"))
    assert (await reindex(collections, EMBED))[1] == [OLD_NAME]
    info = await client.get_collection(OLD_NAME)
    assert (info.config.metadata or {})[MOVED] == NAME
    with pytest.raises(StoreError, match="run remora reindex"):
        await contents(store_of(old(client)), ALICE)
    await reindex(QdrantCollections(client, OLD_NAME, OLD.shape), OLD)
    assert await contents(store_of(old(client)), ALICE) == ["tea"]


@pytest.mark.requirement("M4")
async def test_what_moved_can_be_deleted(
    client: AsyncQdrantClient, collections: QdrantCollections
) -> None:
    await put(old(client), a_memory("tea"))
    assert (await reindex(collections, EMBED, delete=True))[1] == []
    assert [c.name for c in (await client.get_collections()).collections] == [NAME]


@pytest.mark.requirement("M4")
async def test_the_first_use_warns_of_what_has_not_moved(
    client: AsyncQdrantClient, collections: QdrantCollections
) -> None:
    await put(old(client), a_memory("tea"))
    with structlog.testing.capture_logs() as logs:
        await contents(store_of(QdrantEngine(client, NAME, EMBED.shape)), ALICE)
        await reindex(collections, EMBED)
        await contents(store_of(QdrantEngine(client, NAME, EMBED.shape)), ALICE)
    assert [line["not_used"] for line in logs if "not_used" in line][:1] == [[OLD_NAME]]
    last = QdrantEngine(client, NAME, EMBED.shape)
    with structlog.testing.capture_logs() as logs:
        assert await contents(store_of(last), ALICE) == ["tea"]
    assert logs == []


async def test_a_key_that_may_not_see_others_serves_its_own(
    client: AsyncQdrantClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused() -> None:
        raise ValueError

    monkeypatch.setattr(client, "get_collections", refused)
    assert await contents(store_of(old(client)), ALICE) == []
