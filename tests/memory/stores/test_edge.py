"""What is Edge's own: one folder, one process, and what can happen to files."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import qdrant_edge
import structlog

from app.domain import Change, Owner, Shape, Where
from app.errors import ConfigurationError, StoreError
from app.memory.stores import edge
from app.memory.stores.base import PayloadStore
from app.memory.stores.edge import EdgeEngine
from tests.build import ALICE, BOB, EMBED, KEY, a_memory, contents, keep, later, vectors_of

SHAPE = EMBED.shape
WRITES_AND_DIES = """
import asyncio, os, signal, sys
from pathlib import Path
from app.memory.stores.base import PayloadStore
from app.memory.stores.edge import EdgeEngine
from tests.build import ALICE, BOB, EMBED, KEY, a_memory, keep

async def main():
    engine = EdgeEngine(Path(sys.argv[1]), EMBED.shape)
    await keep(PayloadStore(engine, KEY), *(a_memory(f"row {n}") for n in range(50)))
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data" / "store"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed folder with one row, for tests that leave it so."""
    folder = tmp_path_factory.mktemp("edge") / "store"

    async def fill() -> None:
        engine = EdgeEngine(folder, SHAPE)
        await keep(PayloadStore(engine, KEY), a_memory("My secret", BOB))
        await engine.close()

    asyncio.run(fill())
    return folder


@pytest.fixture
async def engine(shared: Path) -> AsyncIterator[EdgeEngine]:
    opened = EdgeEngine(shared, SHAPE)
    yield opened
    mine = opened.kit.equals("user", ALICE.user)
    opened._shard.update(qdrant_edge.UpdateOperation.delete_points_by_filter(mine))
    await opened.close()


async def reopened(folder: Path, owner: Owner = ALICE) -> list[str]:
    """What is found when the folder is opened again."""
    engine = EdgeEngine(folder, SHAPE)
    try:
        return await contents(PayloadStore(engine, KEY), owner)
    finally:
        await engine.close()


async def test_what_was_written_is_there_when_opened_again(folder: Path) -> None:
    for number in range(2):
        engine = EdgeEngine(folder, SHAPE)
        await keep(PayloadStore(engine, KEY), a_memory(f"row {number}", at=later(-number)))
        await engine.close()
    assert await reopened(folder) == ["row 0", "row 1"]
    assert [path.name for path in folder.parent.iterdir()] == ["store"]


async def test_an_empty_folder_becomes_a_store_whatever_a_cut_off_start_left(folder: Path) -> None:
    draft = folder.parent / ".new-abc"
    for made in (folder, draft):
        made.mkdir(parents=True)
    (draft / "half").write_text("half")
    await EdgeEngine(folder, SHAPE).close()
    assert await reopened(folder) == []


def test_a_killed_process_loses_nothing(folder: Path) -> None:
    died = subprocess.run(
        [sys.executable, "-c", WRITES_AND_DIES, str(folder)], check=False, capture_output=True
    )
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert sorted(asyncio.run(reopened(folder))) == sorted(f"row {number}" for number in range(50))


async def test_a_second_process_is_told_so_in_one_line(shared: Path, engine: EdgeEngine) -> None:
    with pytest.raises(ConfigurationError) as caught:
        EdgeEngine(shared, SHAPE)
    (fault,) = caught.value.faults
    assert fault == (
        f"{shared} is open in another process: stop it, or use another REMORA_DATA_DIR"
    )
    assert await engine.count(engine.kit.every([])) == 1


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("wal/first-index", b""),
        ("wal/open-1", b"\xff My secret \x00" * 100),
        ("segments/*/segment.json", b'{"My secret'),
        ("segments/*/vector_storage-dense/vectors/status.dat", b""),  # Edge panics
    ],
)
async def test_a_damaged_file_is_one_clear_line_and_costs_no_other(
    shared: Path, tmp_path: Path, name: str, damage: bytes
) -> None:
    (path,) = shared.glob(name)
    aside = path.rename(tmp_path / "aside")
    path.write_bytes(damage)
    with pytest.raises(ConfigurationError) as caught:
        EdgeEngine(shared, SHAPE)
    (fault,) = caught.value.faults
    assert fault.startswith(f"{shared} cannot be opened as a memory store: ")
    assert "\n" not in fault
    assert "secret" not in fault
    aside.replace(path)  # as from a backup
    assert await reopened(shared, BOB) == ["My secret"]


async def test_another_dimension_is_refused(shared: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be opened"):
        EdgeEngine(shared, Shape(SHAPE.dense + 1))
    assert await reopened(shared, BOB) == ["My secret"]


@pytest.mark.parametrize("fate", ["removed", "renamed"])
async def test_a_folder_that_goes_away_is_an_error_and_no_crash(folder: Path, fate: str) -> None:
    engine = EdgeEngine(folder, SHAPE)
    store = PayloadStore(engine, KEY)
    await keep(store, a_memory("row"))
    elsewhere = folder.with_name("elsewhere")
    if fate == "removed":
        shutil.rmtree(folder)
    else:
        folder.rename(elsewhere)
    assert await contents(store, ALICE) == ["row"]  # the open files are still there
    with pytest.raises(StoreError, match="folder is gone"):
        await keep(store, a_memory("late"))
    with pytest.raises(StoreError, match="folder is gone"):
        await store.forget(ALICE, Where(content="row"), later(1))
    with structlog.testing.capture_logs() as logs:
        await engine.close()
    assert [log["event"] for log in logs] in (["store_not_flushed"], [])
    if fate == "renamed":
        assert await reopened(elsewhere) == ["row"]


async def test_after_closing_there_is_no_crash(folder: Path) -> None:
    engine = EdgeEngine(folder, SHAPE)
    for _ in range(2):
        await engine.close()
    store = PayloadStore(engine, KEY)
    for use in (contents(store, ALICE), keep(store, a_memory("late"))):
        with pytest.raises(StoreError):
            await use


@pytest.mark.requirement("M2")
async def test_a_tombstone_has_no_vectors(engine: EdgeEngine) -> None:
    store = PayloadStore(engine, KEY)
    row = a_memory("My secret")
    await keep(store, row)
    (point,) = engine._shard.retrieve([row.id], with_payload=True, with_vector=True)
    assert isinstance(point.vector, dict)
    assert point.vector.keys() == {"dense", "bm25"}
    await store.forget(ALICE, Where(content="my secret"), later(1))
    (point,) = engine._shard.retrieve([row.id], with_payload=True, with_vector=True)
    assert point.vector == {}
    assert "secret" not in str(point.payload)


async def test_many_writes_let_other_tasks_run(engine: EdgeEngine) -> None:
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(turn())
    changes = [Change(a_memory(f"row {number}")) for number in range(10 * edge.BURST)]
    assert all(await PayloadStore(engine, KEY).save(ALICE, changes))
    task.cancel()
    assert turns >= 10


async def test_the_log_is_flushed_now_and_then(
    engine: EdgeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge, "FLUSH_EVERY", 3)
    store = PayloadStore(engine, KEY)
    for number, unflushed in enumerate((1, 2, 0, 1)):
        await keep(store, a_memory(f"row {number}"))
        assert engine._unflushed == unflushed


class PanicException(BaseException):
    """What a panic in Edge looks like from Python; it is no `Exception`."""


class Broken:
    """A shard that panics."""

    def __getattr__(self, name: str) -> Any:
        def panic(*_: object) -> None:
            raise PanicException("index out of bounds: My secret")

        return panic


async def test_a_panic_is_a_store_error(engine: EdgeEngine) -> None:
    query = await vectors_of("row")
    shard, engine._shard = engine._shard, Broken()  # type: ignore[assignment]
    store = PayloadStore(engine, KEY)
    row = a_memory("row")
    for use in (
        store.find(ALICE, Where()),
        store.search(ALICE, query, Where(), 1),
        store.save(ALICE, [Change(row, query)]),
        store.touch(ALICE, {row.id: 1}, later(1)),
        store.forget(ALICE, Where(content="row"), later(1)),
    ):
        with pytest.raises(StoreError) as caught:
            await use
        assert "secret" not in str(caught.value)
    engine._flush()
    engine._shard = shard
    assert await contents(store, ALICE) == []


async def test_being_interrupted_is_not_an_error_of_the_store(engine: EdgeEngine) -> None:
    class Interrupted(Broken):
        def __getattr__(self, name: str) -> Any:
            raise KeyboardInterrupt

    shard, engine._shard = engine._shard, Interrupted()  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        await engine.count(qdrant_edge.Filter())
    engine._shard = shard
