"""What is the server's own: it may be away, late, old, or being prepared by another process."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.conversions.conversion import GrpcToRest, RestToGrpc
from qdrant_client.http.exceptions import UnexpectedResponse

from app.domain import Change, Owner, Pool, Where
from app.errors import StoreError
from app.memory.rows import to_row
from app.memory.stores import qdrant
from app.memory.stores.base import PayloadStore
from app.memory.stores.engine import Write
from app.memory.stores.plan import Plan
from app.memory.stores.qdrant import QdrantEngine, connect
from app.memory.stores.schema import HELD, INTEGERS, KEYWORDS, TENANTS
from app.settings import Settings
from tests.build import ALICE, EMBED, KEY, START, a_memory, contents, keep, vectors_of

SECRET = "My sister Xanthippe"


class Client:
    """A stand-in for a server, on which single methods can be replaced."""

    def __init__(self) -> None:
        self.real = AsyncQdrantClient(":memory:")
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.calls.append(name)
        return getattr(self.real, name)


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    opened = Client()
    yield opened
    await opened.real.close()


def store_on(client: Any) -> PayloadStore[models.Filter]:
    return PayloadStore(QdrantEngine(client, "memory", EMBED.shape), KEY)


async def test_nothing_is_asked_before_the_first_use(client: Client) -> None:
    store = store_on(client)
    assert client.calls == []
    assert await store.save(ALICE, []) == []
    assert client.calls == []
    await contents(store, ALICE)
    prepared = len(client.calls)
    await contents(store, ALICE)
    assert len(client.calls) < 2 * prepared
    assert client.calls.count("create_collection") == 1


async def test_what_is_filtered_is_indexed(client: Client) -> None:
    indexed: dict[str, object] = {}

    async def create_payload_index(_: str, field: str, kind: object) -> None:
        indexed[field] = kind

    client.create_payload_index = create_payload_index  # type: ignore[attr-defined]
    await contents(store_on(client), ALICE)
    assert indexed.keys() == {*TENANTS, *KEYWORDS, *INTEGERS, *HELD}
    assert isinstance(indexed["tenant"], models.KeywordIndexParams)
    assert indexed["tenant"].is_tenant


async def test_two_processes_may_prepare_the_collection_at_once(client: Client) -> None:
    """Each asks first, and only then do both create it."""
    early = [False, False]

    async def exists(name: str) -> bool:
        return early.pop() if early else bool(await client.real.collection_exists(name))

    client.collection_exists = exists  # type: ignore[attr-defined]
    one, two = store_on(client), store_on(client)
    await keep(one, a_memory("one"))
    await keep(two, a_memory("two"))
    assert client.calls.count("create_collection") == 2
    assert sorted(await contents(one, ALICE)) == ["one", "two"]


async def test_a_collection_that_cannot_be_made_is_tried_again(client: Client) -> None:
    async def create_collection(*_: object, **__: object) -> None:
        raise ValueError(SECRET)

    client.create_collection = create_collection  # type: ignore[attr-defined]
    store = store_on(client)
    with pytest.raises(StoreError):
        await contents(store, ALICE)
    del client.create_collection
    assert await contents(store, ALICE) == []


@pytest.mark.parametrize("version", ["1.16.3", "1.9.0", "0.11.7-dev"])
async def test_an_old_server_is_refused(client: Client, version: str) -> None:
    """It would pass over the condition of a conditional write, and overwrite anybody's row."""

    async def info() -> models.VersionInfo:
        return models.VersionInfo(title="qdrant", version=version)

    client.info = info  # type: ignore[attr-defined]
    with pytest.raises(StoreError, match=r"1\.17 is the oldest"):
        await contents(store_on(client), ALICE)
    assert client.calls == []


class GrpcError(Exception):
    """As grpc.aio raises it, with the server's words in it."""

    def code(self) -> SimpleNamespace:
        return SimpleNamespace(name="INTERNAL")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (GrpcError(SECRET), "INTERNAL"),
        (UnexpectedResponse(507, "full", SECRET.encode(), httpx.Headers()), "507"),
        (ValueError(SECRET), "ValueError"),
        (TimeoutError(), "TimeoutError"),
    ],
)
async def test_errors_say_what_kind_they_are_and_no_more(
    client: Client, error: Exception, reason: str
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise error

    store = store_on(client)
    await keep(store, a_memory("row"))
    for name in ("count", "scroll", "query_batch_points", "batch_update_points", "retrieve"):
        setattr(client, name, fail)
    query = await vectors_of(SECRET)
    for use in (
        store.find(ALICE, Where(content=SECRET)),
        store.search(ALICE, query, Where(), 1),
        store.save(ALICE, [Change(a_memory(SECRET), query)]),
        store.touch(ALICE, {a_memory(SECRET).id: 1}, START),
        store.forget(ALICE, Where(content=SECRET), START),
    ):
        with pytest.raises(StoreError) as caught:
            await use
        assert str(caught.value) == f"the Qdrant server did not do what was asked ({reason})"
        assert caught.value.__suppress_context__


@pytest.mark.parametrize("over_grpc", [True, False], ids=["gRPC", "HTTP"])
async def test_a_server_that_is_not_there(*, over_grpc: bool) -> None:
    client = connect(Settings(qdrant_url="http://127.0.0.9:6333", qdrant_grpc=over_grpc))
    with pytest.raises(StoreError):
        await contents(store_on(client), ALICE)
    await client.close()


@pytest.fixture
def deaf_port() -> Iterator[int]:
    """A port that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


async def test_a_server_that_does_not_answer(
    deaf_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qdrant, "TIMEOUT", 1)
    client = connect(Settings(qdrant_url=f"http://127.0.0.1:{deaf_port}", qdrant_grpc=False))
    with pytest.raises(StoreError):
        await contents(store_on(client), ALICE)
    await client.close()


def bare(value: Any) -> Any:
    """A model as plain data, without what is empty."""
    if isinstance(value, models.Filter):
        value = value.model_dump(exclude_none=True)
    if isinstance(value, list):
        return [bare(one) for one in value]
    if isinstance(value, dict):
        return {key: bare(one) for key, one in value.items() if one not in (None, [])}
    return value


async def test_conditions_and_modes_survive_the_way_over_grpc() -> None:
    engine = QdrantEngine(AsyncQdrantClient(":memory:"), "memory", EMBED.shape)
    plan = Plan(engine.kit, KEY)
    row = a_memory("row", Owner("acme", "alice", "site"), pool=Pool.PROJECT, pinned=True)
    asked = Where(ids=frozenset({row.id}), pinned=True, created=(START, None), content="row")
    conditions = [
        plan.visible(row.owner, asked),
        plan.owned(row.owner, Where()),
        plan.unchanged(row.owner, to_row(row) | {"updated_us": 1}),
    ]
    for condition in conditions:
        back_again = GrpcToRest.convert_filter(RestToGrpc.convert_filter(condition))
        assert bare(back_again) == bare(condition)
    stored, vectors = to_row(row), await vectors_of("row")
    for write, mode in (
        (Write(row.id, stored, vectors), models.UpdateMode.INSERT_ONLY),
        (Write(row.id, stored, vectors, conditions[2]), models.UpdateMode.UPDATE_ONLY),
        (Write(row.id, stored, None, conditions[2], unindex=True), models.UpdateMode.UPDATE_ONLY),
    ):
        sent = qdrant._operation(write)
        back = GrpcToRest.convert_points_update_operation(RestToGrpc.convert_update_operation(sent))
        assert isinstance(back, models.UpsertOperation)
        assert isinstance(back.upsert, models.PointsList)
        assert back.upsert.update_mode is mode
        assert bare(back.upsert.update_filter) == bare(write.condition)
        assert back.upsert.points[0].payload == stored
    kept = qdrant._operation(Write(row.id, stored, None, conditions[2]))
    back = GrpcToRest.convert_points_update_operation(RestToGrpc.convert_update_operation(kept))
    assert isinstance(back, models.OverwritePayloadOperation)
    assert bare(back.overwrite_payload.filter) == bare(conditions[2])
    assert back.overwrite_payload.payload == stored
    await engine.close()
