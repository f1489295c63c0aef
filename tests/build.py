"""Values to test with: owners, memories, vectors."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import uuid4

from app.domain import (
    Change,
    Fact,
    Memory,
    Origin,
    Owner,
    Pool,
    State,
    Times,
    Vectors,
    Where,
)
from app.memory.embed import Encoder, Lexical
from app.memory.embed.hashed import HashedModel
from app.ports import Store

ALICE: Final = Owner("acme", "alice")
BOB: Final = Owner("acme", "bob")
KEY: Final = b"the secret of the tests"
START: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
EMBED: Final = Encoder(HashedModel(), Lexical())
EVERY_STATE: Final = Where(states=frozenset(State))
FORGOTTEN: Final = Where(states=frozenset({State.FORGOTTEN}))


def later(seconds: float) -> datetime:
    """So many seconds after the beginning of the tests' time."""
    return START + timedelta(seconds=seconds)


def a_memory(content: str, owner: Owner = ALICE, **given: Any) -> Memory:
    """A memory; any field of `Memory`, `Fact`, `Times` or `Origin` can be given, and `at`."""
    at = given.pop("at", START)
    usual = {"valid_from": at, "created_at": at, "updated_at": at, "created_by": owner.user}
    usual |= {"id": uuid4(), "pool": Pool.USER, "state": State.ACTIVE, "content": content}
    rest: dict[str, Any] = usual | given
    parts: dict[str, Any] = {}
    for name, kind in (("fact", Fact), ("times", Times), ("origin", Origin)):
        names = {field.name for field in fields(kind)}
        parts[name] = kind(**{key: rest.pop(key) for key in names & rest.keys()})
    return Memory(owner=owner, **parts, **rest)


async def vectors_of(text: str) -> Vectors:
    """What a text is stored with."""
    (vectors,) = await EMBED.documents([text])
    return vectors


async def keep(store: Store, *memories: Memory) -> None:
    """Save memories as their owners would, indexed; every one must be new."""
    for memory in memories:
        change = Change(memory, await vectors_of(memory.fact.content))
        assert await store.save(memory.owner, [change]) == [True]


async def contents(store: Store, owner: Owner, where: Where | None = None) -> list[str]:
    """The contents that an owner finds, newest first."""
    return [m.fact.content for m in (await store.find(owner, where or Where())).memories]
