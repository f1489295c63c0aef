from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.domain import Block, Change, Memory, Owner, Pool, State, Where, utc_now
from app.memory.stores.base import PayloadStore
from app.memory.stores.engine import Engine, Write
from app.memory.stores.pins import SWEEP_EVERY, PinLimits, pin_id
from app.ports import Pins
from tests.build import ALICE, BOB, EVERY_STATE, KEY, START, a_memory, contents, keep

TURN = "0123456789abcdef"


@pytest.fixture
def store(store: PayloadStore[Any]) -> PayloadStore[Any]:
    return store


@pytest.fixture
def pins(store: PayloadStore[Any]) -> Pins:
    found: Pins = store.pins
    return found


def block_of(*memories: Memory) -> Block:
    lines = "\n".join(memory.fact.content for memory in memories)
    return Block(f"<memory>\n{lines}\n</memory>", tuple(m.id for m in memories), 7)


@pytest.fixture
async def rex(store: PayloadStore[Any]) -> Memory:
    memory = a_memory("The user's dog is called Rex. 犬 🐶")
    await keep(store, memory)
    return memory


@pytest.mark.requirement("M24", "M25")
async def test_a_block_comes_back_to_the_byte(pins: Pins, rex: Memory) -> None:
    block = block_of(rex)
    await pins.put(ALICE, TURN, block, read=utc_now(), until=None)
    assert await pins.get(ALICE, ["unknown", TURN]) == {TURN: block}
    assert await pins.get(ALICE, []) == {}


@pytest.mark.requirement("M24", "M28")
async def test_a_block_without_memories_is_kept_too(pins: Pins) -> None:
    ask = Block("<remora-ask>…</remora-ask>", (), 0)
    await pins.put(ALICE, TURN, ask, read=utc_now(), until=None)
    assert await pins.get(ALICE, [TURN]) == {TURN: ask}
    assert await pins.get(BOB, [TURN]) == {}


@pytest.mark.requirement("M24")
async def test_a_turn_that_comes_anew_has_its_new_block(
    store: PayloadStore[Any], pins: Pins, rex: Memory
) -> None:
    other = a_memory("The user lives in Lisbon.")
    await keep(store, other)
    for block in (block_of(rex), block_of(rex, other)):
        await pins.put(ALICE, TURN, block, read=utc_now(), until=None)
        assert await pins.get(ALICE, [TURN]) == {TURN: block}


@pytest.mark.requirement("M9", "M25")
async def test_nobody_else_has_it(pins: Pins, rex: Memory) -> None:
    """Field fault 48: a thread that another user continues."""
    await pins.put(ALICE, TURN, block_of(rex), read=utc_now(), until=None)
    for other in (BOB, Owner("else", "alice"), replace(ALICE, project="site")):
        assert await pins.get(other, [TURN]) == {}


@pytest.mark.requirement("M25")
@pytest.mark.parametrize("how", ["forget", "reject", "supersede", "expire", "correct"])
async def test_it_goes_with_its_memory(
    store: PayloadStore[Any], pins: Pins, rex: Memory, how: str
) -> None:
    other = a_memory("The user lives in Lisbon.")
    await keep(store, other)
    await pins.put(ALICE, TURN, block_of(other, rex), read=utc_now(), until=None)
    await pins.put(ALICE, "other", block_of(other), read=utc_now(), until=None)
    if how == "forget":
        await store.forget(ALICE, Where(ids=frozenset({rex.id})), START)
    else:
        (read,) = (await store.find(ALICE, Where(ids=frozenset({rex.id})))).memories
        changed = {
            "reject": replace(read, state=State.REJECTED),
            "supersede": replace(read, state=State.SUPERSEDED),
            "expire": replace(read, times=replace(read.times, valid_to=utc_now())),
            "correct": replace(read, fact=replace(read.fact, content="The user's dog is Max.")),
        }[how]
        assert await store.save(ALICE, [Change(changed, expect=read)]) == [True]
    assert await pins.get(ALICE, [TURN, "other"]) == {"other": block_of(other)}


@pytest.mark.requirement("M25")
async def test_a_projects_memory_takes_everybodys_pins_along(
    store: PayloadStore[Any], pins: Pins
) -> None:
    alice, bob = replace(ALICE, project="site"), replace(BOB, project="site")
    shared = a_memory("The project uses Go.", alice, pool=Pool.PROJECT)
    await keep(store, shared)
    await pins.put(bob, TURN, block_of(shared), read=utc_now(), until=None)
    await store.forget(alice, Where(ids=frozenset({shared.id})), START)
    assert await pins.get(bob, [TURN]) == {}


@pytest.mark.requirement("M25", "M40")
async def test_a_pin_that_comes_late_is_not_kept(
    store: PayloadStore[Any], pins: Pins, rex: Memory
) -> None:
    await store.forget(ALICE, Where(ids=frozenset({rex.id})), START)
    await pins.put(ALICE, TURN, block_of(rex), read=utc_now(), until=None)
    assert await pins.get(ALICE, [TURN]) == {}


@pytest.mark.requirement("M25", "M40")
async def test_no_race_leaves_a_pin_of_what_was_forgotten(busy_store: PayloadStore[Any]) -> None:
    for number in range(5):
        memory = a_memory(f"The user has {number} dogs.")
        await keep(busy_store, memory)
        await asyncio.gather(
            busy_store.pins.put(ALICE, TURN, block_of(memory), read=utc_now(), until=None),
            busy_store.forget(ALICE, Where(ids=frozenset({memory.id})), START),
            busy_store.pins.put(ALICE, "again", block_of(memory), read=utc_now(), until=None),
        )
        assert await busy_store.pins.get(ALICE, [TURN, "again"]) == {}


@pytest.mark.requirement("M25")
async def test_it_expires(engine: Engine[Any], pins: Pins, rex: Memory) -> None:
    await pins.put(
        ALICE, TURN, block_of(rex), read=utc_now(), until=utc_now() + timedelta(seconds=0.2)
    )
    assert await pins.get(ALICE, [TURN]) != {}
    await asyncio.sleep(0.25)
    assert await pins.get(ALICE, [TURN]) == {}
    short = PayloadStore(engine, KEY, PinLimits(lifetime=timedelta(0)))
    await short.pins.put(ALICE, "short", block_of(rex), read=utc_now(), until=None)
    assert await short.pins.get(ALICE, ["short"]) == {}


@pytest.mark.requirement("M25")
async def test_an_owner_keeps_only_so_many(engine: Engine[Any], rex: Memory) -> None:
    pins = PayloadStore(engine, KEY, PinLimits(per_owner=5)).pins
    turns = [f"turn{number}" for number in range(SWEEP_EVERY)]
    for turn in turns:
        await pins.put(ALICE, turn, block_of(rex), read=utc_now(), until=None)
    assert sorted(await pins.get(ALICE, turns)) == sorted(turns[-5:])


@pytest.mark.requirement("M9", "M25")
async def test_pins_are_no_memories(store: PayloadStore[Any], pins: Pins, rex: Memory) -> None:
    await pins.put(ALICE, TURN, block_of(rex), read=utc_now(), until=None)
    assert await contents(store, ALICE, EVERY_STATE) == [rex.fact.content]
    assert (await store.find(ALICE, Where())).total == 1


@pytest.mark.requirement("M25", "M40")
async def test_what_changed_since_it_was_read_is_not_pinned(
    store: PayloadStore[Any], pins: Pins, rex: Memory
) -> None:
    read = utc_now()
    (found,) = (await store.find(ALICE, Where(ids=frozenset({rex.id})))).memories
    new = replace(found, fact=replace(found.fact, content="The user's dog is Max."))
    times = replace(found.times, updated_at=read + timedelta(seconds=1))
    assert await store.save(ALICE, [Change(replace(new, times=times), expect=found)]) == [True]
    await pins.put(ALICE, TURN, block_of(rex), read=read, until=None)
    assert await pins.get(ALICE, [TURN]) == {}


@pytest.mark.requirement("M25", "M40")
async def test_forgetting_again_takes_what_was_left_behind(
    store: PayloadStore[Any], engine: Engine[Any], rex: Memory
) -> None:
    await store.pins.put(ALICE, TURN, block_of(rex), read=utc_now(), until=None)
    (row,) = await engine.scroll(store.pins._plan.pins(ALICE), 2)
    where = Where(ids=frozenset({rex.id}))
    await store.forget(ALICE, where, START)
    left = {key: value for key, value in row.items() if key != "id"}
    await engine.write([Write(pin_id(ALICE, TURN), left)])
    assert await store.pins.get(ALICE, [TURN]) != {}
    assert await store.forget(ALICE, where, START) == []
    assert await store.pins.get(ALICE, [TURN]) == {}


@pytest.mark.requirement("M25", "M40")
async def test_a_write_is_between_two_drops(store: PayloadStore[Any], rex: Memory) -> None:
    """Before it, for a stop in between; behind it, for what was pinned meanwhile."""
    seen: list[str] = []
    drop, write = store.pins.drop, store._engine.write

    async def dropped(memories: Any) -> None:
        seen.append("drop")
        await drop(memories)

    async def written(writes: Any) -> list[bool]:
        seen.append("write")
        return await write(writes)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store.pins, "drop", dropped)
        patch.setattr(store._engine, "write", written)
        await store.forget(ALICE, Where(types=frozenset({rex.fact.type})), START)
    assert seen == ["drop", "drop", "write", "drop"]


@pytest.mark.requirement("M25")
async def test_each_owner_keeps_only_so_many(engine: Engine[Any], rex: Memory) -> None:
    store = PayloadStore(engine, KEY, PinLimits(per_owner=5))
    other = a_memory("The user has a cat.", BOB)
    await keep(store, other)
    turns = [f"turn{number}" for number in range(SWEEP_EVERY)]
    for turn in turns:
        await store.pins.put(ALICE, turn, block_of(rex), read=utc_now(), until=None)
        await store.pins.put(BOB, turn, block_of(other), read=utc_now(), until=None)
    for owner in (ALICE, BOB):
        assert len(await store.pins.get(owner, turns)) == 5
