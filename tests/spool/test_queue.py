from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from app.domain import Owner, Policy, Receipt, Source, Tenant, Turn
from app.errors import ConfigurationError, StoreError
from app.spool import SqliteSpool

ANA, BEN = Owner("acme", "ana"), Owner("acme", "ben")
AT = datetime(2026, 11, 30, 18, 2, 10, 5, tzinfo=UTC)


def turn(name: str, owner: Owner = ANA) -> Turn:
    source = Source(app="cli", model="m", turn_key="k", injected=(uuid4(),))
    return Turn(name, AT, owner, Policy(limit=3), source, "I live in Lisbon 狗\x00", "Noted")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "spool.sqlite"


@asynccontextmanager
async def opened(path: Path, max_waiting: int = 100) -> AsyncIterator[SqliteSpool]:
    spool = SqliteSpool(path, max_waiting=max_waiting, keep_days=1)
    try:
        yield spool
    finally:
        await spool.close()


@pytest.mark.requirement("M27")
async def test_a_turn_comes_back_as_it_was_after_a_restart(path: Path) -> None:
    kept = turn("req_1")
    async with opened(path) as spool:
        assert await spool.put(kept) is True
    async with opened(path) as spool:
        assert (await spool.due(), spool.waiting) == ([kept], 1)


@pytest.mark.requirement("M27")
async def test_a_turn_is_kept_once_and_gone_once_done(path: Path) -> None:
    async with opened(path) as spool:
        await spool.put(turn("req_1"))
        await spool.put(turn("req_1"))
        assert spool.waiting == 1
        receipt = Receipt("req_1", ANA, "stored", AT, (uuid4(),), ("api_key",))
        await spool.done(receipt)
        assert await spool.due() == []
        assert await spool.receipt(ANA, "req_1") == receipt


async def test_nothing_of_a_learned_turn_stays_in_the_file(path: Path) -> None:
    async with opened(path) as spool:
        await spool.put(turn("req_1"))
        await spool.done(Receipt("req_1", ANA, "stored", AT))
    assert b"Lisbon" not in path.read_bytes()


@pytest.mark.requirement("M27")
async def test_past_the_bound_the_newest_is_dropped_and_its_receipt_says_so(path: Path) -> None:
    async with opened(path, max_waiting=1) as spool:
        assert await spool.put(turn("req_1")) is True
        assert await spool.put(turn("req_2")) is False
        dropped = await spool.receipt(ANA, "req_2")
        assert dropped is not None
        assert dropped.outcome == "dropped"
        assert [t.id for t in await spool.due(5)] == ["req_1"]


async def test_a_receipt_is_its_owners(path: Path) -> None:
    async with opened(path) as spool:
        await spool.done(Receipt("req_1", ANA, "nothing", AT))
        assert await spool.receipt(BEN, "req_1") is None
        assert await spool.receipt(Owner("other", "ana"), "req_1") is None
        assert await spool.receipt(Tenant("other"), "req_1") is None
        assert await spool.receipt(Tenant("acme"), "req_1") is not None


async def test_a_failed_turn_waits_longer_each_time(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    monkeypatch.setattr("app.spool.queue.time.time", lambda: now)
    async with opened(path) as spool:
        await spool.put(turn("req_1"))
        await spool.put(turn("req_2"))
        assert await spool.later("req_1") == 1
        assert [t.id for t in await spool.due(5)] == ["req_2"]
        now += 1.1
        assert await spool.later("req_1") == 2
        now += 4
        await spool.done(Receipt("req_2", ANA, "nothing", AT))
        assert await spool.due() == []
        now += 2
        assert await spool.due() != []


async def test_forgetting_drops_what_waits_of_that_owner_only(path: Path) -> None:
    async with opened(path) as spool:
        for name, owner in (("a", ANA), ("b", BEN), ("c", Owner("other", "ana"))):
            await spool.put(turn(name, owner))
        assert await spool.forget(ANA) == 1
        assert await spool.forget(ANA) == 0
        assert spool.waiting == 2
        assert await spool.forget(Tenant("acme")) == 1
        assert spool.waiting == 1


async def test_old_receipts_go(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    monkeypatch.setattr("app.spool.queue.time.time", lambda: now)
    async with opened(path) as spool:
        await spool.done(Receipt("old", ANA, "nothing", AT))
        now += 2 * 86_400
        await spool.done(Receipt("new", ANA, "nothing", AT))
        assert await spool.receipt(ANA, "old") is None
        assert await spool.receipt(ANA, "new") is not None


@pytest.mark.parametrize("damage", [b"no database at all " * 100, None])
async def test_a_damaged_spool_is_set_aside_not_deleted(path: Path, damage: bytes | None) -> None:
    async with opened(path) as spool:
        for number in range(200):
            await spool.put(turn(f"req_{number}"))
    raw = path.read_bytes()
    broken = damage or raw[:5000] + b"\xff" * 8000 + raw[13000:]
    path.write_bytes(broken)
    async with opened(path) as spool:
        assert await spool.put(turn("req_new")) is True
    (kept,) = path.parent.glob("spool.sqlite.damaged-*")
    assert kept.read_bytes() == broken


async def test_a_turn_that_cannot_be_read_fails_alone(path: Path) -> None:
    async with opened(path) as spool:
        await spool.put(turn("req_1"))
        await spool.put(turn("req_2"))
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("UPDATE turns SET body = x'7b7d' WHERE id = 'req_1'")
    async with opened(path) as spool:
        assert [t.id for t in await spool.due(5)] == ["req_2"]
        failed = await spool.receipt(ANA, "req_1")
        assert failed is not None
        assert failed.outcome == "failed"


async def test_a_place_that_cannot_be_used_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "spool.sqlite").mkdir()
    with pytest.raises(ConfigurationError) as caught:
        SqliteSpool(tmp_path / "spool.sqlite", max_waiting=1, keep_days=1)
    assert len(caught.value.faults) == 1


@pytest.mark.requirement("M12")
async def test_a_full_disk_is_a_store_error(path: Path) -> None:
    async with opened(path) as spool:
        spool._database.execute("PRAGMA max_page_count = 1")
        big = replace(turn("req_1"), query="I live in Lisbon. " * 10_000)
        with pytest.raises(StoreError) as caught:
            await spool.put(big)
        assert "Lisbon" not in str(caught.value)


@pytest.mark.requirement("M32")
async def test_what_was_learned_is_in_no_file(path: Path) -> None:
    async with opened(path) as spool:
        await spool.put(turn("req_1"))
        assert b"Lisbon" in b"".join(file.read_bytes() for file in path.parent.iterdir())
        await spool.done(Receipt("req_1", ANA, "stored", AT))
        await spool.tidy()
        assert b"Lisbon" not in b"".join(file.read_bytes() for file in path.parent.iterdir())
