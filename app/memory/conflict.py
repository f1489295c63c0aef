"""Two statements that contradict each other, and no order that tells which one holds (M37). Pure.

That is so for two values of a slot that holds one, where `precedence` finds no order: two records
of the same `valid_from`, or two values in one message. And for two statements that are the same but
for a "not" (`similar.opposed`), where no slot and no word ("no longer") says that one ends the
other: the person may have changed their mind, or may have been misunderstood.

They form one conflict: the newer stays `active`, the older waits as `pending`, `conflicts_with` on
both. A person decides it by the API (`decide`), or by saying one side again later.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.domain import Change, Event, MemoryType, State
from app.memory import history as line
from app.memory.precedence import compared
from app.memory.similar import opposed, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from uuid import UUID

    from app.domain import Memory


def contradicts(one: Memory, other: Memory) -> bool:
    """Whether the two are the same but for a "not"; excerpts of talks never are."""
    if one.fact.type is not other.fact.type or one.fact.type is MemoryType.EPISODIC:
        return False
    return opposed(words_of(one.fact.content), words_of(other.fact.content))


def waits(memory: Memory) -> bool:
    """Whether it is the withheld side of a conflict."""
    return memory.state is State.PENDING and bool(memory.links.conflicts_with)


def settles(memory: Memory, new: Memory) -> bool:
    """Whether `new`, said later than this withheld side, may decide the conflict."""
    return waits(memory) and compared(new, memory) > 0


def linked(memory: Memory, to: Iterable[Memory]) -> bool:
    """Whether it is in conflict with one of these."""
    return any(other.id in memory.links.conflicts_with for other in to)


def opened(
    new: Memory, clash: Sequence[Memory], now: datetime, over: Sequence[Memory] = ()
) -> tuple[Change, ...]:
    """The changes to the older sides of a conflict with `new`: they wait; links to `over` go."""
    ended = {memory.id for memory in over}
    return tuple(
        Change(_without(_in_conflict(memory, new.id, now, waiting=True), ended), expect=memory)
        for memory in clash
        if new.id not in memory.links.conflicts_with or linked(memory, over)
    )


def withheld(new: Memory, clash: Sequence[Memory], now: datetime) -> tuple[Change, ...]:
    """`new` as the older side, which waits, and the changes to the newer ones, which stay."""
    old = line.never_held(new, line.PENDING)
    for memory in clash:
        old = _in_conflict(old, memory.id, now, waiting=True)
    old = replace(old, links=replace(old.links, supersedes=()))
    return (Change(old), *joined(new, clash, now))


def joined(new: Memory, clash: Sequence[Memory], now: datetime) -> tuple[Change, ...]:
    """The changes to the newer sides of a conflict with `new`: they stay as they are."""
    return tuple(
        Change(_in_conflict(memory, new.id, now, waiting=False), expect=memory)
        for memory in clash
        if new.id not in memory.links.conflicts_with
    )


def as_newest(new: Memory, clash: Sequence[Memory], now: datetime) -> Memory:
    """`new` as the newer side of a conflict with these."""
    for memory in clash:
        new = _in_conflict(new, memory.id, now, waiting=False)
    return new


def _without(memory: Memory, ended: set[UUID]) -> Memory:
    left = tuple(key for key in memory.links.conflicts_with if key not in ended)
    return replace(memory, links=replace(memory.links, conflicts_with=left))


def _in_conflict(memory: Memory, other: UUID, now: datetime, *, waiting: bool) -> Memory:
    links, times = memory.links, memory.times
    conflicts = tuple(dict.fromkeys((*links.conflicts_with, other)))
    event = Event(now, line.CONFLICT, memory.origin.created_by, line.WAITS if waiting else None)
    first = not links.conflicts_with
    return replace(
        memory,
        state=State.PENDING if waiting else memory.state,
        times=replace(times, updated_at=now),
        links=replace(links, conflicts_with=conflicts),
        history=line.recorded(memory, event) if first else memory.history,
    )
