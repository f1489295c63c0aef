"""What the one meaning does with an engine; what it promises is in tests/contracts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import structlog

from app.domain import Change, State, Vectors, Where
from app.errors import StoreError
from app.memory.rows import to_row
from app.memory.stores.base import ATTEMPTS, PayloadStore
from app.memory.stores.engine import Write
from app.memory.stores.evidence import Hits
from app.memory.stores.inmemory import InMemoryEngine
from app.memory.stores.plan import shelf
from tests.build import ALICE, KEY, a_memory, contents, keep, later, vectors_of


class Watched(InMemoryEngine):
    """Counts what is asked; refuses to write what is marked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.stuck: set[str] = set()

    async def nearest(self, condition: Any, vectors: Vectors, limit: int) -> Hits:
        self.asked.append(f"nearest {limit}")
        return await super().nearest(condition, vectors, limit)

    async def write(self, writes: Sequence[Write[Any]]) -> list[bool]:
        self.asked.append(f"write {len(writes)}")
        return [
            str(write.id) not in self.stuck and (await super(Watched, self).write([write]))[0]
            for write in writes
        ]


@pytest.fixture
def engine() -> Watched:
    return Watched()


@pytest.fixture
def store(engine: Watched) -> PayloadStore[Any]:
    return PayloadStore(engine, KEY)


async def test_what_a_first_look_may_have_missed_is_asked_for_once(
    store: PayloadStore[Any], engine: Watched
) -> None:
    await keep(store, a_memory("I like tea"), a_memory("I have a cat"), a_memory("A tall tree"))
    engine.asked.clear()
    asked = await vectors_of("tea")
    await store.search(ALICE, asked, Where(), 1)
    assert engine.asked == ["nearest 2", "nearest 2"]
    engine.asked.clear()
    await store.search(ALICE, asked, Where(), 5)
    assert engine.asked == ["nearest 10"]  # which was not full: nothing is missing
    engine.asked.clear()
    assert await store.search(ALICE, asked, Where(), 0) == []
    assert engine.asked == []


async def test_rows_that_cannot_be_forgotten_end_in_an_error(
    store: PayloadStore[Any], engine: Watched
) -> None:
    good, stuck = a_memory("goes"), a_memory("stays")
    await keep(store, good, stuck)
    engine.stuck = {str(stuck.id)}
    engine.asked.clear()
    with pytest.raises(StoreError, match="cannot be forgotten"):
        await store.forget(ALICE, Where(states=frozenset(State)), later(1))
    assert engine.asked == ["write 2", *["write 1"] * ATTEMPTS]
    assert await contents(store, ALICE) == ["stays"]


async def test_an_unreadable_row_is_logged_by_its_id_alone(
    store: PayloadStore[Any], engine: Watched
) -> None:
    bad = a_memory("My secret")
    place = shelf(ALICE, bad.pool, bad.state)
    row = to_row(bad) | {"created_us": 1, "shelf": place, "type": "secret dream"}
    await engine.write([Write(bad.id, row)])
    with structlog.testing.capture_logs() as logs:
        found = await store.find(ALICE, Where())
    assert (found.memories, found.total, found.has_more) == ((), 1, False)
    assert logs == [{"event": "unreadable_row", "id": f"mem_{bad.id.hex}", "log_level": "warning"}]


async def test_a_use_keeps_the_revision_of_its_row(
    store: PayloadStore[Any], engine: Watched
) -> None:
    """Whoever wrote the row a moment ago looks for that revision, to see whether it was taken."""
    row = a_memory("row")
    await keep(store, row)
    before = engine._rows[row.id]["rev"]
    await store.touch(ALICE, {row.id: 1}, later(1))
    assert engine._rows[row.id]["rev"] == before
    changed = replace(row, state=State.PENDING)
    assert await store.save(ALICE, [Change(changed, expect=row)]) == [True]
    assert engine._rows[row.id]["rev"] != before


async def test_what_a_newer_version_added_to_a_row_survives_a_use(
    store: PayloadStore[Any], engine: Watched
) -> None:
    row = a_memory("row")
    await keep(store, row)
    engine._rows[row.id]["mood"] = "good"
    await store.touch(ALICE, {row.id: 1}, later(1))
    assert engine._rows[row.id]["mood"] == "good"
    assert await contents(store, ALICE) == ["row"]
