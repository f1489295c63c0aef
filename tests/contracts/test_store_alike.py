"""All stores keep a memory as the same row, so data can move between them."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from app.domain import Pool, State, Tenant, Where
from app.memory import STORES, StoreSpec
from app.memory.stores.base import PayloadStore
from app.memory.stores.plan import Plan
from app.ports import Store
from app.settings import Settings
from tests.build import ALICE, BOB, EMBED, EVERY_STATE, KEY, a_memory, keep, later

MEMORIES = [
    a_memory("I have a cat", at=later(1), slot="pet", pinned=True, app="cli"),
    a_memory("我住在北京 🦈", at=later(2), state=State.PENDING, quote="\x00"),
    a_memory("Uses Python", BOB, at=later(3), pool=Pool.USER, conversation_id="c"),
    a_memory("forgotten", at=later(4)),
]


async def raw_rows(store: Store) -> dict[str, dict[str, Any]]:
    if not isinstance(store, PayloadStore):
        pytest.skip("no rows underneath")
    everything = Plan(store._engine.kit, KEY).owned(Tenant("acme"), EVERY_STATE)
    rows = await store._engine.scroll(everything, 100)
    return {row["id"]: {k: v for k, v in row.items() if k != "rev"} for row in rows}


@pytest.mark.requirement("M1", "M2")
async def test_the_same_memories_are_the_same_rows_everywhere(tmp_path: Path) -> None:
    rows, found = [], []
    async with AsyncExitStack() as stack:
        for name, opened in STORES.items():
            settings = Settings(data_dir=tmp_path / name, qdrant_url=":memory:")
            store = await stack.enter_async_context(opened(StoreSpec(settings, EMBED, KEY)))
            await keep(store, *MEMORIES)
            await store.touch(ALICE, {MEMORIES[0].id: 1}, later(5))
            await store.forget(ALICE, Where(content="forgotten"), later(6))
            rows.append(await raw_rows(store))
            found.append(await store.find(Tenant("acme"), EVERY_STATE))
    assert len(rows[0]) == len(MEMORIES)
    assert all(one == rows[0] for one in rows)
    assert all(one == found[0] for one in found)
