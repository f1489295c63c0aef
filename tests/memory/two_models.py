"""Collections of an old model and of the one in use, with rows of every kind."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from app.domain import Block, Change, Memory, MemoryType, Owner, Shape, State, Where, utc_now
from app.memory.embed import Encoder, Lexical
from app.memory.embed.hashed import HashedModel
from app.memory.rows import Row
from app.memory.stores.base import PayloadStore
from app.memory.stores.engine import Engine, Write
from app.memory.stores.moving import Collections, Stored
from tests.build import ALICE, BOB, EMBED, KEY, a_memory, later


class OldModel(HashedModel):
    """Another identity, and another dimension."""

    identity = "old"
    shape = Shape(77)


OLD: Final = Encoder(OldModel(), Lexical())
OLD_NAME: Final = "memory-old-77-00000001"
NAME: Final = "memory-new-256-00000002"
ELSEWHERE: Final = Owner("another-tenant", "alice")


async def put(engine: Engine[Any], *memories: Memory, embed: Encoder = OLD) -> None:
    """Save them, indexed."""
    store = PayloadStore(engine, KEY)
    for memory in memories:
        (vectors,) = await embed.documents([memory.fact.content])
        assert await store.save(memory.owner, [Change(memory, vectors)]) == [True]


async def fill(engine: Engine[Any]) -> dict[str, UUID]:
    """One row of each kind, by name."""
    store = PayloadStore(engine, KEY)
    rows = {
        "tea": a_memory("The user likes tea."),
        "elsewhere": a_memory("The user likes tea.", ELSEWHERE),
        "bob": a_memory("The user has a dog.", BOB, pinned=True, slot="pet"),
        "episode": a_memory("We talked about ships.", type=MemoryType.EPISODIC),
        "gone": a_memory("The user owes money."),
    }
    rows |= {s.value: a_memory(f"It is {s}.", state=s) for s in State if s not in _BARE}
    await put(engine, *rows.values())
    ids = {name: row.id for name, row in rows.items()}
    await store.forget(ALICE, Where(ids=frozenset({ids["gone"]})), later(60))
    await store.touch(ALICE, {ids["tea"]: 3}, later(90))
    shown = Block("a line about tea", (ids["tea"],), 5)
    until = utc_now() + timedelta(days=1)
    await store.pins.put(ALICE, "turn", shown, read=utc_now(), until=until)
    (vectors,) = await OLD.documents(["half a row"])
    damaged: dict[str, Row] = {
        "half": {"content": "half a row", "tenant": "acme"},
        "empty": {},
        "odd": {"content": ["no", "text"], "created_us": "never", "id": "mem_1"},
    }
    for name, row in damaged.items():
        ids[name] = uuid4()
        assert await engine.write([Write(ids[name], row, vectors)]) == [True]
    return ids


_BARE: Final = {State.ACTIVE, State.FORGOTTEN}


async def rows_of(collections: Collections[Any], name: str) -> dict[UUID, Stored]:
    """All that a collection has, by id."""
    async with collections.source(name) as source:
        pages = [page async for page in source.pages()]
        size = await source.size()
    found = {stored.id: stored for page in pages for stored in page}
    assert (size.rows, size.indexed) == (len(found), sum(s.indexed for s in found.values()))
    return found


def store_of(engine: Engine[Any]) -> PayloadStore[Any]:
    return PayloadStore(engine, KEY)


__all__ = ["EMBED", "NAME", "OLD", "OLD_NAME", "fill", "put", "rows_of", "store_of"]
