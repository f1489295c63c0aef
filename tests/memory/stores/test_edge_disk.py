"""A full disk. Edge writes through memory maps, where a full disk kills the process (SIGBUS)."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.domain import Where
from app.errors import ConfigurationError, StoreError
from app.folder import RESERVE
from app.memory.stores.base import PayloadStore
from app.memory.stores.edge import EdgeEngine
from tests.build import ALICE, EMBED, KEY, a_memory, contents, keep, later, vectors_of

NO_DISK_HAS_THIS = 1 << 60
MIB = 1 << 20
FILLS_THE_DISK = f"""
import asyncio, os, shutil, sys
from pathlib import Path
from app.errors import StoreError
from app.memory.stores.base import PayloadStore
from app.folder import RESERVE
from app.memory.stores.edge import EdgeEngine
from tests.build import ALICE, EMBED, KEY, a_memory, contents, keep

async def main(disk):
    engine = EdgeEngine(disk / "store", EMBED.shape)
    store = PayloadStore(engine, KEY)
    free = shutil.disk_usage(disk).free
    with (disk / "filler").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, free - RESERVE - {MIB})
    kept = 0
    try:
        while kept < 10_000:
            await keep(store, a_memory(f"row {{kept}}"))
            kept += 1
    except StoreError as error:
        print(kept, len(await contents(store, ALICE)), error, sep="|")
    await engine.close()

asyncio.run(main(Path(sys.argv[1])))
"""


async def test_writes_stop_while_there_is_room_and_reads_go_on(tmp_path: Path) -> None:
    engine = EdgeEngine(tmp_path / "store", EMBED.shape)
    store = PayloadStore(engine, KEY)
    row = a_memory("kept")
    await keep(store, row)
    engine._reserve = NO_DISK_HAS_THIS
    with pytest.raises(StoreError, match="the disk is full"):
        await keep(store, a_memory("too much"))
    with pytest.raises(StoreError, match="the disk is full"):
        await store.touch(ALICE, {row.id: 1}, later(1))
    assert await contents(store, ALICE) == ["kept"]
    hits = await store.search(ALICE, await vectors_of("kept"), Where(), 1)
    assert [hit.memory for hit in hits] == [row]
    engine._reserve = RESERVE
    await keep(store, a_memory("room again", at=later(1)))
    assert await contents(store, ALICE) == ["room again", "kept"]
    await engine.close()


def test_a_full_disk_is_no_place_to_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"store: less than \d+ MiB are free on its disk"):
        EdgeEngine(tmp_path / "store", EMBED.shape, NO_DISK_HAS_THIS)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("needs the right to mount a disk")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)  # noqa: S607


@pytest.mark.requirement("M12")
def test_a_disk_that_fills_up_kills_nobody_and_loses_nothing(small_disk: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", FILLS_THE_DISK, str(small_disk)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    kept, found, error = run.stdout.strip().split("|")
    assert error == "the disk is full"
    assert int(kept) > 0
    assert int(found) == min(int(kept), 100)  # a page

    with pytest.raises(ConfigurationError, match="less than 64 MiB"):
        EdgeEngine(small_disk / "store", EMBED.shape)
    (small_disk / "filler").unlink()
    asyncio.run(all_is_there(small_disk / "store", int(kept)))


async def all_is_there(folder: Path, kept: int) -> None:
    engine = EdgeEngine(folder, EMBED.shape)
    store = PayloadStore(engine, KEY)
    assert (await store.find(ALICE, Where())).total == kept
    await keep(store, a_memory("room again"))
    await engine.close()
