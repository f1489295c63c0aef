"""The worker: takes turns from the queue, a few at a time, and learns from them."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import TYPE_CHECKING, Final

import structlog

from app.domain import Receipt, utc_now
from app.errors import RemoraError, StoreError
from app.metrics import TURNS, WAITING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from app.domain import Turn
    from app.spool.queue import SqliteSpool

    Find = Callable[[Turn], Awaitable[Turn]]
    Learn = Callable[[Turn], Awaitable[Receipt]]

_log = structlog.get_logger()
MAX_ATTEMPTS: Final = 3
# Turns that share a transaction; a forget waits for as many.
BATCH: Final = 8
POLL_SECONDS: Final = 1.0
# While calls come, learning leaves them so many times what it took, unless too many turns wait.
YIELD: Final = 9.0


async def _nothing_to_find(turn: Turn) -> Turn:
    return turn


class Worker:
    """Runs until it is cancelled; a turn that was not finished is learned after the next start.

    `find` reads a turn and writes nothing; it may take long (a model is asked), so nobody waits for
    it. `learn` writes, and whoever holds `pause` runs before or after it.
    """

    def __init__(self, spool: SqliteSpool, learn: Learn, find: Find = _nothing_to_find) -> None:
        self._spool = spool
        self._learn = learn
        self._find = find
        self.pause = asyncio.Lock()

    async def run(self) -> None:
        """Learn from each turn as it comes due."""
        while True:
            self._spool.wake.clear()
            started = perf_counter()
            try:
                idle = not await self.step()
            except StoreError as error:  # the spool itself, a full disk say: it may get better
                _log.warning("spool", reason=str(error))
                idle = True
            if idle:
                await self._rest()
            elif self._spool.wake.is_set() and not self._spool.crowded:
                await asyncio.sleep(min((perf_counter() - started) * YIELD, POLL_SECONDS))

    async def step(self) -> bool:
        """Learn from a few turns; False if none is due."""
        async with self.pause:
            turns = await self._spool.due(BATCH)
        deadline = perf_counter() + POLL_SECONDS
        receipts: list[Receipt] = []
        for turn in turns:
            if (receipt := await self._attempt(turn)) is not None:
                receipts.append(receipt)
            if perf_counter() > deadline:  # the others are still due; these need not wait for them
                break
        await self._spool.done(*receipts)
        for receipt in receipts:
            TURNS.labels(receipt.outcome).inc()
        WAITING.set(self._spool.waiting)
        return bool(turns)

    async def _attempt(self, turn: Turn) -> Receipt | None:
        """A store that is down is waited for; a turn that fails by itself is given up."""
        try:
            found = await self._find(turn)
            async with self.pause:
                return await self._learn(found) if await self._spool.waits(turn.id) else None
        except RemoraError as error:
            attempts = await self._spool.later(turn.id)
            reason = type(error.__cause__ or error).__name__
            _log.warning("learning_failed", id=turn.id, attempts=attempts, reason=reason)
            if attempts >= MAX_ATTEMPTS and not isinstance(error, StoreError):
                return Receipt(turn.id, turn.owner, "failed", utc_now())
            return None

    async def _rest(self) -> None:
        try:
            async with asyncio.timeout(POLL_SECONDS):
                await self._spool.wake.wait()
        except TimeoutError:
            await self._tidy()

    async def _tidy(self) -> None:
        try:
            await self._spool.tidy()
        except StoreError as error:
            _log.warning("spool", reason=str(error))
