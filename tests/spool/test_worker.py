from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.domain import Owner, Policy, Receipt, Source, Turn
from app.errors import RejectedError, RemoraError, StoreError
from app.spool import SqliteSpool, Worker

ANA = Owner("acme", "ana")
AT = datetime(2026, 11, 30, tzinfo=UTC)


def turn(name: str) -> Turn:
    return Turn(name, AT, ANA, Policy(), Source(), "hello")


class Learner:
    """Learns, or fails as often as it is told."""

    def __init__(self, *errors: RemoraError) -> None:
        self.errors = list(errors)
        self.seen: list[str] = []

    async def __call__(self, given: Turn) -> Receipt:
        self.seen.append(given.id)
        if self.errors:
            raise self.errors.pop(0)
        return Receipt(given.id, given.owner, "stored", AT)


@pytest.fixture
async def spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SqliteSpool]:
    monkeypatch.setattr("app.spool.queue.RETRY_SECONDS", (0.0,))
    spool = SqliteSpool(tmp_path / "spool.sqlite", max_waiting=100, keep_days=1)
    yield spool
    await spool.close()


async def outcome(spool: SqliteSpool, name: str) -> str | None:
    receipt = await spool.receipt(ANA, name)
    return receipt.outcome if receipt else None


@pytest.mark.requirement("M27")
async def test_every_turn_ends_in_one_receipt(spool: SqliteSpool) -> None:
    learner = Learner()
    for name in "abc":
        await spool.put(turn(name))
    worker = Worker(spool, learner)
    while await worker.step():
        pass
    assert learner.seen == ["a", "b", "c"]
    assert [await outcome(spool, name) for name in "abc"] == ["stored"] * 3


async def test_a_store_that_is_down_is_waited_for(spool: SqliteSpool) -> None:
    learner = Learner(*[StoreError("down")] * 10)
    await spool.put(turn("a"))
    worker = Worker(spool, learner)
    for _ in range(10):
        assert await worker.step() is True
        assert await outcome(spool, "a") is None
    await worker.step()
    assert await outcome(spool, "a") == "stored"


async def test_a_turn_that_fails_by_itself_is_given_up(spool: SqliteSpool) -> None:
    await spool.put(turn("a"))
    await spool.put(turn("b"))
    good = Learner()

    async def learn(given: Turn) -> Receipt:
        if given.id == "a":
            raise RejectedError(500, "broken")
        return await good(given)

    worker = Worker(spool, learn)
    while await worker.step():
        pass
    assert (await outcome(spool, "a"), await outcome(spool, "b")) == ("failed", "stored")
    assert spool.waiting == 0


async def test_it_wakes_for_a_turn_and_stops_when_told(spool: SqliteSpool) -> None:
    learner = Learner()
    task = asyncio.create_task(Worker(spool, learner).run())
    await asyncio.sleep(0.01)
    await spool.put(turn("a"))
    async with asyncio.timeout(0.9):  # it would look again after a second by itself
        while not learner.seen:
            await asyncio.sleep(0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_nothing_is_learned_while_it_is_paused(spool: SqliteSpool) -> None:
    learner = Learner()
    worker = Worker(spool, learner)
    await spool.put(turn("a"))
    async with worker.pause:
        step = asyncio.create_task(worker.step())
        await asyncio.sleep(0.02)
        await spool.forget(ANA)
    assert await step is False
    assert learner.seen == []


@pytest.mark.requirement("M32")
async def test_the_log_is_emptied_when_nothing_waits(
    spool: SqliteSpool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.spool.worker.POLL_SECONDS", 0.01)
    running = asyncio.create_task(Worker(spool, Learner()).run())
    await spool.put(turn("a"))
    async with asyncio.timeout(5):
        while (tmp_path / "spool.sqlite-wal").stat().st_size:
            await asyncio.sleep(0.01)
    running.cancel()
    assert await outcome(spool, "a") == "stored"


@pytest.mark.parametrize("busy", [True, False])
async def test_while_calls_come_learning_leaves_most_of_the_time_to_them(
    spool: SqliteSpool, monkeypatch: pytest.MonkeyPatch, *, busy: bool
) -> None:
    pauses: list[float] = []
    learned: list[str] = []
    real = asyncio.sleep

    async def noted(seconds: float) -> None:
        pauses.append(seconds)
        await real(0)

    async def slow(given: Turn) -> Receipt:
        await real(0.02)
        if busy and len(learned) < 3:
            await spool.put(turn(f"call{len(learned)}"))
        learned.append(given.id)
        return Receipt(given.id, given.owner, "stored", AT)

    monkeypatch.setattr(asyncio, "sleep", noted)
    for number in range(20):
        await spool.put(turn(str(number)))
    task = asyncio.create_task(Worker(spool, slow).run())
    while spool.waiting:
        await real(0.01)
    task.cancel()
    assert [pause >= 9 * 0.02 for pause in pauses] == [True] * len(pauses)
    assert bool(pauses) is busy


class Reader:
    """Reads turns for as long as it is told."""

    def __init__(self) -> None:
        self.started, self.enough = asyncio.Event(), asyncio.Event()

    async def __call__(self, given: Turn) -> Turn:
        self.started.set()
        await self.enough.wait()
        return replace(given, answer="read")


async def test_whoever_pauses_it_does_not_wait_for_a_turn_that_is_being_read(
    spool: SqliteSpool,
) -> None:
    learner, reader = Learner(), Reader()
    worker = Worker(spool, learner, reader)
    for name in "ab":
        await spool.put(turn(name))
    step = asyncio.create_task(worker.step())
    await reader.started.wait()
    async with asyncio.timeout(1), worker.pause:
        await spool.forget(ANA)
    reader.enough.set()
    assert await step is True
    assert learner.seen == []  # it was forgotten while it was read
    assert await outcome(spool, "a") is None


async def test_what_was_read_is_learned(spool: SqliteSpool) -> None:
    seen: list[Turn] = []

    async def learn(given: Turn) -> Receipt:
        seen.append(given)
        return Receipt(given.id, given.owner, "stored", AT)

    reader = Reader()
    reader.enough.set()
    await spool.put(turn("a"))
    await Worker(spool, learn, reader).step()
    assert seen == [replace(turn("a"), answer="read")]


async def test_a_receipt_does_not_wait_for_slow_turns_behind_it(
    spool: SqliteSpool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.spool.worker.POLL_SECONDS", 0.0)
    for name in "ab":
        await spool.put(turn(name))
    worker = Worker(spool, Learner())
    await worker.step()
    assert (await outcome(spool, "a"), await outcome(spool, "b")) == ("stored", None)
    await worker.step()
    assert await outcome(spool, "b") == "stored"
