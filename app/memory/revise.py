"""Brings what a person decides about a memory into the store: `decide` says what that changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from app.domain import Change, Event, State, Where, utc_now
from app.errors import StoreError
from app.memory import history as line
from app.memory.decide import accepted, rejected, restored
from app.memory.slots import is_single

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from app.domain import Memory, Vectors
    from app.ports import Store

# Somebody else may write the same rows in between; then it is decided anew.
ATTEMPTS: Final = 3
# Successors of successors that are followed.
MAX_CHAIN: Final = 50
_OVER: Final = frozenset({State.SUPERSEDED, State.EXPIRED})
_LIVE: Final = frozenset({State.ACTIVE, State.PENDING})


class Reviser:
    """Corrects, accepts, rejects and restores. Raises `StoreError`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def correct(self, old: Memory, new: Memory, vectors: Vectors | None = None) -> bool:
        """Write `new` in the place of `old`, and what it decides; False if `old` is not so now."""
        event = new.history[-1]
        if new.state is old.state and not (old.links.conflicts_with and _decides(event)):
            (done,) = await self._store.save(old.owner, [Change(new, vectors, expect=old)])
            return done
        for attempt in range(ATTEMPTS):
            known = await self._known(new, old.links.conflicts_with)
            decide = rejected if new.state is State.REJECTED else accepted
            first, *rest = decide(old, new, known, event)
            if attempt == 0:
                first = replace(first, vectors=vectors)
                if not await self._saved(old, [first]):
                    return False
            if await self._saved(old, rest):
                return True
        raise StoreError("the same rows keep changing")

    async def restore(self, memory: Memory, by: str) -> Memory | None:
        """What was superseded or taken back as active again; None if it has become something else.

        Again, and nothing changes.
        """
        for _ in range(ATTEMPTS):
            if memory.state is State.ACTIVE:
                return memory
            if memory.state not in _OVER:
                return None
            chain = await self._successors(memory)
            known = await self._known(memory, chain, frozenset(State))
            *over, back = restored(memory, known, Event(utc_now(), line.RESTORED, by))
            if await self._saved(memory, over) and await self._saved(memory, [back]):
                return back.memory
            found = await self._read(memory, frozenset({memory.id}), frozenset(State))
            if not found:
                return None
            (memory,) = found
        raise StoreError("the same rows keep changing")

    async def _known(
        self, memory: Memory, ids: tuple[UUID, ...], states: frozenset[State] = _LIVE
    ) -> list[Memory]:
        """These in such states, and the active ones of its slot, if that holds one value."""
        known = await self._read(memory, frozenset(ids), states) if ids else []
        slot = memory.fact.slot
        if slot is not None and is_single(slot):
            asked = Where(slots=frozenset({slot}), states=frozenset({State.ACTIVE}))
            known += (await self._store.find(memory.owner, asked)).memories
        unique = {other.id: other for other in known if other.pool is memory.pool}
        return list(unique.values())

    async def _successors(self, memory: Memory) -> tuple[UUID, ...]:
        """What superseded it, what superseded that, and so on."""
        chain: list[UUID] = []
        key = memory.links.superseded_by
        while key is not None and key not in {*chain, memory.id} and len(chain) < MAX_CHAIN:
            chain.append(key)
            found = await self._read(memory, frozenset({key}), frozenset(State))
            key = found[0].links.superseded_by if found else None
        return tuple(chain)

    async def _saved(self, memory: Memory, changes: Sequence[Change]) -> bool:
        return all(await self._store.save(memory.owner, changes))

    async def _read(
        self, memory: Memory, ids: frozenset[UUID], states: frozenset[State]
    ) -> list[Memory]:
        found = await self._store.find(memory.owner, Where(ids=ids, states=states))
        return list(found.memories)


def _decides(event: Event) -> bool:
    return event.event in {line.ACTIVATED, line.REJECTED}
