"""The queue itself: finished turns that wait, and receipts of those that are done.

SQLite with a write-ahead log and `synchronous=NORMAL`: a commit costs about 0.1 ms and survives a
killed process. A turn's row is gone (and overwritten: `secure_delete`) once it is learned; `tidy`
empties the log, which still has it.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, TypeVar

import orjson
import structlog
from pydantic import TypeAdapter, ValidationError

from app.domain import Owner, Receipt, Tenant, Turn, utc_now
from app.errors import ConfigurationError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from app.domain import Scope

T = TypeVar("T")
_log = structlog.get_logger()
_TURN: Final = TypeAdapter(Turn)
_RECEIPT: Final = TypeAdapter(Receipt)
RETRY_SECONDS: Final = (1.0, 5.0, 30.0, 120.0, 600.0)
SETUP: Final = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA secure_delete = ON;
CREATE TABLE IF NOT EXISTS turns (
    id TEXT PRIMARY KEY, tenant TEXT NOT NULL, user TEXT NOT NULL, body BLOB NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0, due REAL NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE IF NOT EXISTS receipts (
    id TEXT PRIMARY KEY, tenant TEXT NOT NULL, user TEXT NOT NULL, body BLOB NOT NULL,
    at REAL NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS turns_due ON turns (due);
CREATE INDEX IF NOT EXISTS receipts_at ON receipts (at);
"""
_USER: Final = " AND (:user IS NULL OR user = :user)"


class SqliteSpool:
    """`app.ports.Spool` in one file, served by one thread."""

    def __init__(self, path: Path, *, max_waiting: int, keep_days: float) -> None:
        self._max_waiting = max_waiting
        self._keep_seconds = keep_days * 86_400
        self._database = _open(path)
        self._count = int(self._database.execute("SELECT count(*) FROM turns").fetchone()[0])
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="spool")
        self._logged = True
        self.wake = asyncio.Event()

    async def put(self, turn: Turn) -> bool:
        kept = await self._run(lambda: self._put(turn))
        self.wake.set()
        return kept

    async def done(self, *receipts: Receipt) -> None:
        await self._run(lambda: self._done(receipts))

    async def receipt(self, scope: Owner | Tenant, turn_id: str) -> Receipt | None:
        return await self._run(lambda: self._receipt(scope, turn_id))

    async def forget(self, scope: Owner | Tenant) -> int:
        return await self._run(lambda: self._forget(scope))

    async def due(self, limit: int = 1) -> list[Turn]:
        """The oldest turns whose time has come."""
        return await self._run(lambda: self._due(limit))

    async def waits(self, turn_id: str) -> bool:
        """Whether the turn still waits: it may have been forgotten since it came due."""
        query = "SELECT 1 FROM turns WHERE id = ?"
        return (
            await self._run(lambda: self._database.execute(query, (turn_id,)).fetchone())
            is not None
        )

    async def later(self, turn_id: str) -> int:
        """Try a turn again after a while, longer each time; how often it has failed now."""
        return await self._run(lambda: self._later(turn_id))

    async def tidy(self) -> None:
        """Empty the write-ahead log if anything was written since the last time."""
        if self._logged:
            self._logged = False
            await self._run(lambda: self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)"))

    @property
    def waiting(self) -> int:
        """How many turns wait."""
        return self._count

    @property
    def crowded(self) -> bool:
        """Whether so many wait that new ones may soon be dropped."""
        return self._count > self._max_waiting // 2

    async def close(self) -> None:
        """Close the file; what waits stays."""
        await self._run(self._database.close)
        self._thread.shutdown()

    def _put(self, turn: Turn) -> bool:
        if self._count >= self._max_waiting:
            self._done([Receipt(turn.id, turn.owner, "dropped", turn.at)])
            return False
        self._count += self._write(
            "INSERT OR IGNORE INTO turns (id, tenant, user, body) VALUES (?, ?, ?, ?)",
            (turn.id, turn.owner.tenant, turn.owner.user, orjson.dumps(turn)),
        )
        return True

    def _due(self, limit: int) -> list[Turn]:
        query = (
            "SELECT id, tenant, user, body FROM turns WHERE due <= ? ORDER BY due, rowid LIMIT ?"
        )
        turns = []
        for turn_id, tenant, user, body in self._database.execute(query, (time.time(), limit)):
            try:
                turns.append(_TURN.validate_json(body))
            except ValidationError:
                _log.warning("unreadable_turn", id=turn_id)
                self._done([Receipt(turn_id, Owner(tenant, user), "failed", utc_now())])
        return turns

    def _done(self, receipts: Sequence[Receipt]) -> None:
        now = time.time()
        rows = [(r.id, r.owner.tenant, r.owner.user, orjson.dumps(r), now) for r in receipts]
        with self._database:
            self._database.execute("BEGIN")
            for receipt in receipts:
                self._count -= self._write("DELETE FROM turns WHERE id = ?", (receipt.id,))
            self._database.executemany("INSERT OR REPLACE INTO receipts VALUES (?,?,?,?,?)", rows)
            self._write("DELETE FROM receipts WHERE at < ?", (now - self._keep_seconds,))

    def _later(self, turn_id: str) -> int:
        query = "SELECT attempts FROM turns WHERE id = ?"
        (attempts,) = self._database.execute(query, (turn_id,)).fetchone() or (0,)
        pause = RETRY_SECONDS[min(attempts, len(RETRY_SECONDS) - 1)]
        change = "UPDATE turns SET attempts = attempts + 1, due = ? WHERE id = ?"
        self._write(change, (time.time() + pause, turn_id))
        return int(attempts) + 1

    def _receipt(self, scope: Scope, turn_id: str) -> Receipt | None:
        query = "SELECT body FROM receipts WHERE id = :id AND tenant = :tenant"
        row = self._database.execute(query + _USER, {"id": turn_id, **_values(scope)}).fetchone()
        return _RECEIPT.validate_json(row[0]) if row else None

    def _forget(self, scope: Scope) -> int:
        change = "DELETE FROM turns WHERE tenant = :tenant"
        gone = self._write(change + _USER, _values(scope))
        self._count -= gone
        return gone

    def _write(self, statement: str, values: Sequence[object] | dict[str, str | None]) -> int:
        self._logged = True
        return self._database.execute(statement, values).rowcount

    async def _run(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        except sqlite3.Error as error:
            raise StoreError(f"the spool failed ({type(error).__name__})") from None


def _values(scope: Scope) -> dict[str, str | None]:
    """A scope as SQL parameters; no user means every user of the tenant."""
    if isinstance(scope, Tenant):
        return {"tenant": scope.name, "user": None}
    return {"tenant": scope.tenant, "user": scope.user}


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return _connect(path)
    except sqlite3.OperationalError as error:
        raise ConfigurationError(f"{path} cannot be opened: {error}") from None
    except sqlite3.DatabaseError as error:
        kept = _set_aside(path)
        _log.warning("damaged_spool", kept=str(kept), reason=str(error))
        return _connect(path)


def _connect(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        (verdict,) = database.execute("PRAGMA quick_check").fetchone()
        if verdict != "ok":
            raise sqlite3.DatabaseError("quick_check failed")
        database.executescript(SETUP)
    except sqlite3.Error:
        database.close()
        raise
    return database


def _set_aside(path: Path) -> Path:
    """Nothing is deleted: a person may still read what a damaged spool holds."""
    kept = path.with_name(f"{path.name}.damaged-{int(time.time())}")
    path.rename(kept)
    for ending in ("-wal", "-shm"):
        part = path.with_name(path.name + ending)
        if part.exists():
            part.rename(kept.with_name(kept.name + ending))
    return kept
