"""Folders: what counts as a collection, and what a run leaves wherever it is cut."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app.errors import ConfigurationError, StoreError
from app.memory.reindex import reindex
from app.memory.stores.edge import EdgeEngine
from app.memory.stores.edge_moving import EdgeCollections, older
from tests.build import ALICE, EMBED, a_memory, contents
from tests.memory.two_models import NAME, OLD, OLD_NAME, put, rows_of, store_of

KILLED = f"""
import asyncio, os, signal, sys
from pathlib import Path
from app.memory.reindex import reindex
from app.memory.stores import edge_moving
from app.memory.stores.edge_moving import EdgeCollections
from tests.memory.two_models import EMBED, NAME

edge_moving.PAGE = 2
kill = lambda tally: tally.read >= 4 and os.kill(os.getpid(), signal.SIGKILL)
collections = EdgeCollections(Path(sys.argv[1]) / "{NAME}", EMBED.shape)
asyncio.run(reindex(collections, EMBED, progress=kill))
"""


async def filled(folder: Path, *texts: str) -> None:
    old = folder.name != NAME
    engine = EdgeEngine(folder, OLD.shape if old else EMBED.shape)
    await put(engine, *map(a_memory, texts), embed=OLD if old else EMBED)
    await engine.close()


async def said(folder: Path) -> list[str]:
    engine = EdgeEngine(folder, OLD.shape if folder.name != NAME else EMBED.shape)
    found = await contents(store_of(engine), ALICE)
    await engine.close()
    return sorted(found)


def killed(folder: Path) -> None:
    run = [sys.executable, "-c", KILLED, str(folder)]
    done = subprocess.run(run, check=False, capture_output=True)
    assert done.returncode == -9, done.stderr


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.fixture
def collections(tmp_path: Path) -> EdgeCollections:
    return EdgeCollections(tmp_path / NAME, EMBED.shape)


def test_what_counts_as_a_collection(tmp_path: Path) -> None:
    for name in (NAME, OLD_NAME, f"replaced-{OLD_NAME}", f".reindex-{NAME}", "memory-empty"):
        (tmp_path / name).mkdir()
        if name != "memory-empty":
            (tmp_path / name / "file").touch()
    (tmp_path / "memory-notes.txt").touch()
    assert older(tmp_path / NAME) == [OLD_NAME]


@pytest.mark.requirement("M4")
async def test_the_old_folder_is_kept_under_a_name_that_does_not_count(
    collections: EdgeCollections, tmp_path: Path
) -> None:
    await filled(tmp_path / OLD_NAME, "tea")
    assert (await reindex(collections, EMBED))[1] == [f"replaced-{OLD_NAME}"]
    assert names(tmp_path) == {NAME, f"replaced-{OLD_NAME}"}
    assert await said(tmp_path / f"replaced-{OLD_NAME}") == ["tea"]
    await filled(tmp_path / OLD_NAME, "coffee")  # a server went back to it
    assert (await reindex(collections, EMBED))[1] == [f"replaced-{OLD_NAME}-2"]
    assert await said(tmp_path / NAME) == ["coffee", "tea"]


@pytest.mark.requirement("M4")
async def test_the_old_folder_can_be_deleted(collections: EdgeCollections, tmp_path: Path) -> None:
    await filled(tmp_path / OLD_NAME, "tea")
    await filled(tmp_path / NAME, "coffee")
    assert (await reindex(collections, EMBED, delete=True))[1] == []
    assert names(tmp_path) == {NAME}
    assert await said(tmp_path / NAME) == ["coffee", "tea"]


@pytest.mark.requirement("M4")
@pytest.mark.fault(36)
async def test_a_killed_run_leaves_all_as_it_was_and_is_run_again(
    collections: EdgeCollections, tmp_path: Path
) -> None:
    await filled(tmp_path / OLD_NAME, *(texts := [f"row {n}" for n in range(7)]))
    await filled(tmp_path / NAME, "own")
    killed(tmp_path)
    assert names(tmp_path) == {NAME, OLD_NAME, f".reindex-{NAME}"}
    assert (await said(tmp_path / OLD_NAME), await said(tmp_path / NAME)) == (texts, ["own"])
    await reindex(collections, EMBED)
    assert names(tmp_path) == {NAME, f"replaced-{OLD_NAME}"}
    assert await said(tmp_path / NAME) == ["own", *texts]


@pytest.mark.requirement("M4")
@pytest.mark.parametrize("step", range(3))
async def test_a_switch_that_is_cut_at_any_step_loses_nothing(
    collections: EdgeCollections, tmp_path: Path, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(tmp_path / OLD_NAME, "tea")
    await filled(tmp_path / NAME, "coffee")
    renamed, done = Path.rename, 0

    def rename(self: Path, target: Path) -> Path:
        nonlocal done
        if self.name.startswith(".new-"):  # the engine makes its draft with one, too
            return renamed(self, target)
        if done == step:
            raise OSError(5, "cut")
        done += 1
        return renamed(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(OSError, match="cut"):
        await reindex(collections, EMBED)
    monkeypatch.undo()
    if step == 1:  # there is none in use now: a server that starts makes an empty one
        await filled(tmp_path / NAME, "new")
    await reindex(collections, EMBED)
    expected = ["coffee", "new", "tea"] if step == 1 else ["coffee", "tea"]
    assert await said(tmp_path / NAME) == expected
    assert older(tmp_path / NAME) == []


@pytest.mark.requirement("M4")
async def test_a_folder_that_cannot_be_opened_is_named_and_nothing_changes(
    collections: EdgeCollections, tmp_path: Path
) -> None:
    (tmp_path / OLD_NAME).mkdir()
    (tmp_path / OLD_NAME / "file").touch()
    with pytest.raises(ConfigurationError, match=f"{OLD_NAME} cannot be opened as a memory store"):
        await reindex(collections, EMBED)
    assert names(tmp_path) == {OLD_NAME}


async def test_a_start_that_was_cut_short_is_in_nobodys_way(
    collections: EdgeCollections, tmp_path: Path
) -> None:
    await filled(tmp_path / OLD_NAME, "tea")
    (tmp_path / NAME).mkdir()
    await reindex(collections, EMBED)
    assert await said(tmp_path / NAME) == ["tea"]


@pytest.mark.requirement("M12")
async def test_a_full_disk_ends_it_and_the_draft_is_gone(
    collections: EdgeCollections, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(tmp_path / OLD_NAME, "tea")

    def full(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(EdgeEngine, "_check_room", full)
    with pytest.raises(StoreError, match="the disk is full"):
        await reindex(collections, EMBED)
    assert names(tmp_path) == {OLD_NAME}
    assert len(await rows_of(collections, OLD_NAME)) == 1
