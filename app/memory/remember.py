"""Brings one memory into the store: what is known is read, `reconcile` decides, it is written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from app.domain import MemoryType, State, Where, utc_now
from app.errors import StoreError
from app.memory.concern import concerned
from app.memory.decide import withdrawn
from app.memory.extract.detect import DEFAULT, SHIPPED
from app.memory.extract.language import load
from app.memory.reconcile import reconcile, said_again

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from app.domain import Change, Memory, Owner, Topic, Vectors
    from app.ports import Embed, Store

NEIGHBOURS: Final = 8
# A topic is one of few words, and what it ends may stand far from it in meaning.
CONCERNED: Final = 32
# Somebody else may write the same row in between; then the decision is taken anew.
ATTEMPTS: Final = 3
_EVERY_STATE: Final = frozenset(State)
_FACTS: Final = Where(
    states=frozenset({State.ACTIVE}),
    types=frozenset({MemoryType.SEMANTIC, MemoryType.PROCEDURAL}),
)
_LIVE: Final = frozenset({State.ACTIVE, State.PENDING, State.REJECTED})


class Rememberer:
    """For learning and for the API alike."""

    def __init__(self, store: Store, embed: Embed) -> None:
        self._store = store
        self._embed = embed

    async def remember(self, owner: Owner, memory: Memory, *, again: bool = False) -> Memory | None:
        """The row that now says it: the new one, or the old one that it reinforced.

        `again`: it may be a new statement in the words of an old one, whose id it then has. None if
        nothing may say it: it was forgotten, or a person decided against it. Raises `StoreError`.
        """
        (vectors,) = await self._embed.documents([memory.fact.content])
        for _ in range(ATTEMPTS):
            known = await self._known(owner, memory, vectors)
            memory = said_again(memory, known) if again else memory
            changes = reconcile(memory, known, utc_now())
            own = next((m for m in known if m.id == memory.id and _lives(m)), None)
            if not changes:
                return own
            if all(await self._store.save(owner, [_indexed(c, vectors) for c in changes])):
                return own or changes[0].memory
        raise StoreError("the same rows keep changing")

    async def ends(self, owner: Owner, memory: Memory, topic: Topic) -> tuple[UUID, ...]:
        """The active facts of the same pool that a statement about this topic ends."""
        (vectors,) = await self._embed.documents([" ".join(sorted(topic.words))])
        near = await self._store.search(owner, vectors, _FACTS, CONCERNED)
        known = [found.memory for found in near if found.memory.pool is memory.pool]
        older = [m for m in known if m.times.created_at < memory.times.created_at]
        return tuple(found.id for found in concerned(topic, older, _another))

    async def withdraw(self, owner: Owner, ids: Sequence[UUID], by: str) -> None:
        """Let these memories end without another in their place. Raises `StoreError`."""
        if not ids:
            return
        where = Where(ids=frozenset(ids), states=frozenset({State.ACTIVE}))
        for _ in range(ATTEMPTS):
            rows = (await self._store.find(owner, where)).memories
            changes = [withdrawn(row, by, utc_now()) for row in rows]
            if all(await self._store.save(owner, changes)):
                return
        raise StoreError("the same rows keep changing")

    async def _known(self, owner: Owner, memory: Memory, vectors: Vectors) -> list[Memory]:
        """The same row, those that say the same, of the same slot, named by it, and the nearest.

        And the other side of every conflict among them.
        """
        wanted = [
            Where(ids=frozenset({memory.id}), states=_EVERY_STATE),
            Where(content=memory.fact.content, states=_EVERY_STATE),
        ]
        if memory.fact.slot:
            slots = frozenset({memory.fact.slot})
            wanted.append(Where(slots=slots, states=frozenset({State.ACTIVE})))
        if named := memory.links.supersedes:
            wanted.append(Where(ids=frozenset(named), states=frozenset({State.ACTIVE})))
        known: list[Memory] = []
        for where in wanted:
            known += (await self._store.find(owner, where)).memories
        if memory.fact.type is not MemoryType.EPISODIC:
            near = await self._store.search(owner, vectors, Where(states=_LIVE), NEIGHBOURS)
            known += [candidate.memory for candidate in near]
        unique = {found.id: found for found in known}
        sides = {key for found in known for key in found.links.conflicts_with}
        if missing := sides - unique.keys():
            asked = Where(ids=frozenset(missing), states=_LIVE)
            unique |= {m.id: m for m in (await self._store.find(owner, asked)).memories}
        return list(unique.values())


def _another(memory: Memory) -> str:
    """Who else than its user a memory is about, as its language tells."""
    code = memory.fact.lang if memory.fact.lang in SHIPPED else DEFAULT
    found = load(code)["another"].match(memory.fact.content)
    return found[0].casefold() if found else ""


def _lives(memory: Memory) -> bool:
    return memory.state is not State.FORGOTTEN


def _indexed(change: Change, vectors: Vectors) -> Change:
    return change if change.expect else replace(change, vectors=vectors)
