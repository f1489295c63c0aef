from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from app.domain import Block, Owner, Where, utc_now
from app.memory.stores.base import PayloadStore
from app.memory.stores.engine import Write
from app.memory.stores.inmemory import InMemoryEngine
from app.memory.stores.pins import pin_id
from tests.build import ALICE, BOB, KEY, START, a_memory, keep


@pytest.mark.requirement("M24")
def test_owner_and_turn_make_the_id() -> None:
    owners = (ALICE, BOB, Owner("acme", "alice", "site"), Owner("a", "b", "c"), Owner("a", "b c"))
    ids = {pin_id(owner, key) for owner in owners for key in ("k", "l")}
    assert len(ids) == 2 * len(owners)
    assert pin_id(ALICE, "k") == pin_id(Owner("acme", "alice"), "k")


@pytest.mark.requirement("M12")
async def test_a_damaged_pin_is_passed_over() -> None:
    engine = InMemoryEngine()
    store = PayloadStore(engine, KEY)
    memory = a_memory("a")
    await keep(store, memory)
    block = Block("text", (memory.id,), 1)
    for key in ("whole", "damaged"):
        await store.pins.put(ALICE, key, block, read=utc_now(), until=None)
    damaged = pin_id(ALICE, "damaged")
    row = engine._rows[damaged] | {"memories": ["no id"]}
    await engine.write([Write(damaged, row, condition=engine.kit.ids([damaged]))])
    assert await store.pins.get(ALICE, ["whole", "damaged", str(uuid4())]) == {"whole": block}


@pytest.mark.requirement("M25", "M40")
async def test_what_was_looked_up_a_moment_ago_is_not_looked_up_again_unless_it_changed() -> None:
    engine = InMemoryEngine()
    store = PayloadStore(engine, KEY)
    memory = a_memory("a")
    await keep(store, memory)
    block = Block("text", (memory.id,), 1)
    await store.pins.put(ALICE, "k", block, read=utc_now(), until=None)
    assert await store.pins.get(ALICE, ["k"]) == {"k": block}
    scroll, looked = engine.scroll, []

    async def counted(*given: Any, **named: Any) -> Any:
        looked.append(given)
        return await scroll(*given, **named)

    engine.scroll = counted  # type: ignore[method-assign]
    assert await store.pins.get(ALICE, ["k"]) == {"k": block}
    assert looked == []
    await store.forget(ALICE, Where(ids=frozenset({memory.id})), START)
    assert await store.pins.get(ALICE, ["k"]) == {}
