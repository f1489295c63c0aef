"""A new fact against what is already known: what to write. Pure.

Same statement → reinforce the old row. Same slot, other value → what was said later wins, the other
is kept as superseded (M35); so is a row that `new.links.supersedes` names. Everything else is
added. What a person rejected or forgot does not come back from the turn it came from.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final
from uuid import uuid5

from app.domain import MAX_HISTORY, Change, Event, State
from app.memory.similar import near_copies, words_of
from app.memory.slots import is_single

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from app.domain import Memory

# A statement heard again gains a fifth of what its confidence lacks, and a little importance.
CONFIDENCE_GAIN: Final = 0.2
IMPORTANCE_GAIN: Final = 0.05
MAX_CONFIDENCE: Final = 0.99


def reconcile(new: Memory, known: Sequence[Memory], now: datetime) -> tuple[Change, ...]:
    """The writes that bring `new` into what is `known` (in any state); empty: nothing to do."""
    rivals = [memory for memory in known if memory.pool is new.pool]
    if any(_settles(memory, new) for memory in rivals):
        return ()
    others = [m for m in rivals if m.state is State.ACTIVE and m.id != new.id]
    named = [memory for memory in others if memory.id in new.links.supersedes]
    holders = [m for m in others if _same_slot(m, new) or m in named]
    if any(memory.id == new.id for memory in rivals):  # written before, perhaps not to the end
        return _ended(new, [m for m in holders if not _is_later(m, new)], now)
    for memory in others:
        if _same(memory, new):
            over = [m for m in named if m is not memory and not _is_later(m, new)]
            stronger = _reinforced(memory, new, over, now)
            return (stronger, *_ended(replace(new, id=memory.id), over, now))
    return _with_slot(new, holders, now)


def said_again(new: Memory, known: Sequence[Memory]) -> Memory:
    """`new` as a memory of its own if the row of its id has ended and this was said afterwards.

    Its id depends on when it was said, so that it is still one row if it is learned twice.
    """
    old = next((memory for memory in known if memory.id == new.id), None)
    if old is None or not _ended_before(old, new.times.created_at):
        return new
    return replace(new, id=uuid5(new.id, new.times.created_at.isoformat()))


def _ended_before(memory: Memory, moment: datetime) -> bool:
    if memory.state is State.SUPERSEDED:  # its successor may have been said later still
        return memory.times.created_at < moment
    gone = memory.state in {State.FORGOTTEN, State.EXPIRED}
    return gone and memory.times.updated_at < moment


def _settles(memory: Memory, new: Memory) -> bool:
    """Whether a person, or a later turn, has decided on this statement."""
    if memory.id == new.id:
        return memory.state is not State.ACTIVE
    if memory.state is State.FORGOTTEN:  # found by its digest: forgotten after it was said
        return memory.times.updated_at >= new.times.created_at
    decided = memory.state in {State.REJECTED, State.PENDING}
    return decided and _same(memory, new)


def _same(memory: Memory, new: Memory) -> bool:
    if memory.fact.type is not new.fact.type:
        return False
    return near_copies(words_of(memory.fact.content), words_of(new.fact.content))


def _with_slot(new: Memory, holders: list[Memory], now: datetime) -> tuple[Change, ...]:
    later = [memory for memory in holders if _is_later(memory, new)]
    if later:
        successor = min(later, key=lambda m: m.times.created_at)
        plain = replace(new, links=replace(new.links, supersedes=()))
        return (Change(_superseded(plain, successor, now)),)
    links = replace(new.links, supersedes=tuple(memory.id for memory in holders))
    return (Change(replace(new, links=links)), *_ended(new, holders, now))


def _ended(new: Memory, holders: list[Memory], now: datetime) -> tuple[Change, ...]:
    return tuple(Change(_superseded(memory, new, now), expect=memory) for memory in holders)


def _is_later(memory: Memory, new: Memory) -> bool:
    """Whether it was said later; not since when it is true: "I moved last month" is news."""
    return memory.times.created_at > new.times.created_at


def _same_slot(memory: Memory, new: Memory) -> bool:
    slot = new.fact.slot
    return slot is not None and is_single(slot) and memory.fact.slot == slot


def _reinforced(memory: Memory, new: Memory, over: Sequence[Memory], now: datetime) -> Change:
    fact, links = memory.fact, memory.links
    supersedes = (*links.supersedes, *(ended.id for ended in over))
    confidence = min(fact.confidence + (1 - fact.confidence) * CONFIDENCE_GAIN, MAX_CONFIDENCE)
    importance = min(fact.importance + IMPORTANCE_GAIN, 1.0)
    stronger = replace(
        memory,
        fact=replace(fact, confidence=max(confidence, fact.confidence), importance=importance),
        times=replace(memory.times, updated_at=now),
        links=replace(links, supersedes=supersedes),
        history=recorded(memory, Event(now, "reinforced", new.origin.created_by)),
    )
    return Change(stronger, expect=memory)


def _superseded(memory: Memory, by: Memory, now: datetime) -> Memory:
    times = replace(memory.times, valid_to=by.times.valid_from, superseded_at=now, updated_at=now)
    return replace(
        memory,
        state=State.SUPERSEDED,
        times=times,
        links=replace(memory.links, superseded_by=by.id),
        history=recorded(memory, Event(now, "superseded", by.origin.created_by)),
    )


def withdrawn(memory: Memory, by: str, now: datetime) -> Change:
    """The memory ended because its user took it back; it can still be read and brought back."""
    times = replace(memory.times, valid_to=now, updated_at=now)
    history = recorded(memory, Event(now, "retracted", by))
    ended = replace(memory, state=State.EXPIRED, times=times, history=history)
    return Change(ended, expect=memory)


def recorded(memory: Memory, event: Event) -> tuple[Event, ...]:
    """The memory's history with one more line, bounded."""
    return (*memory.history, event)[-MAX_HISTORY:]
