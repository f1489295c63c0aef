"""What a person decides about a memory: accept, reject, bring back; and what that ends. Pure.

Accepted, it takes the place of whatever contradicts it: the other side of its conflict (M37) and
the active value of its slot. Rejected, the other side stands. Brought back, it takes the place of
what had superseded it. What is ended stays as `superseded`: every decision can be undone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.domain import Change, Event, State
from app.memory import history as line
from app.memory.slots import is_single

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from app.domain import Memory

_LIVE = frozenset({State.ACTIVE, State.PENDING})


def opponents(memory: Memory, known: Sequence[Memory]) -> list[Memory]:
    """Those of `known` that cannot hold beside it: its conflict's, and its slot's active ones."""
    slot = memory.fact.slot
    single = slot is not None and is_single(slot)
    return [
        other
        for other in known
        if other.id != memory.id
        and other.pool is memory.pool
        and other.state in _LIVE
        and (
            memory.id in other.links.conflicts_with
            or other.id in memory.links.conflicts_with
            or (single and other.fact.slot == slot and other.state is State.ACTIVE)
        )
    ]


def accepted(old: Memory, new: Memory, known: Sequence[Memory], event: Event) -> tuple[Change, ...]:
    """`old` as the person has it now, `new`, which is active; and the end of its opponents."""
    return _instead(old, new, opponents(new, known), event)


def rejected(old: Memory, new: Memory, known: Sequence[Memory], event: Event) -> tuple[Change, ...]:
    """`old` as the person has it now, `new`, which is rejected; the other side stands."""
    others = [other for other in known if old.id in other.links.conflicts_with]
    freed = max(
        (other for other in others if other.state is State.PENDING),
        key=lambda other: other.times.created_at,
        default=None,
    )
    changes = [Change(_without_conflict(new), expect=old)]
    for other in others:
        left = tuple(key for key in other.links.conflicts_with if key != old.id)
        stands = replace(
            other,
            times=replace(other.times, updated_at=event.at),
            links=replace(other.links, conflicts_with=left),
        )
        if other is freed and old.state is State.ACTIVE:
            activated = replace(event, event=line.ACTIVATED, reason=line.CONFLICT)
            stands = replace(stands, state=State.ACTIVE, history=line.recorded(other, activated))
        changes.append(Change(stands, expect=other))
    return tuple(changes)


def restored(memory: Memory, known: Sequence[Memory], event: Event) -> tuple[Change, ...]:
    """A superseded memory as active again, in the place of what had superseded it.

    `known` are its successors, in any state, and the active values of its slot. It is written last:
    until then it can be asked for again, and what is missing is done.
    """
    over = opponents(memory, known)
    over += [m for m in known if m.state in _LIVE and m not in over and m.id != memory.id]
    times = replace(memory.times, valid_to=None, superseded_at=None, updated_at=event.at)
    ended = tuple(m.id for m in known if m.links.superseded_by == memory.id)
    links = memory.links
    links = replace(links, superseded_by=None, supersedes=(*links.supersedes, *ended))
    new = replace(
        memory,
        state=State.ACTIVE,
        times=times,
        links=links,
        history=line.recorded(memory, replace(event, event=line.RESTORED)),
    )
    first, *rest = _instead(memory, new, over, replace(event, reason=line.RESTORED))
    return (*rest, first)


def withdrawn(memory: Memory, by: str, now: datetime) -> Change:
    """The memory ended because its user took it back in words ("forget that I …")."""
    times = replace(memory.times, valid_to=now, updated_at=now)
    told = line.recorded(memory, Event(now, line.EXPIRED, by, line.RETRACTED))
    ended = replace(memory, state=State.EXPIRED, times=times, history=told)
    return Change(_without_conflict(ended), expect=memory)


def _instead(old: Memory, new: Memory, over: Sequence[Memory], event: Event) -> tuple[Change, ...]:
    links = new.links
    supersedes = tuple(dict.fromkeys((*links.supersedes, *(other.id for other in over))))
    new = _without_conflict(replace(new, links=replace(links, supersedes=supersedes)))
    ended = (Change(_ended(other, new, event), expect=other) for other in over)
    return (Change(new, expect=old), *ended)


def _ended(memory: Memory, by: Memory, event: Event) -> Memory:
    """True until the person said otherwise, as far as anybody knows; it supersedes `by` no more."""
    times, links = memory.times, memory.links
    supersedes = tuple(key for key in links.supersedes if key != by.id)
    return replace(
        memory,
        state=State.SUPERSEDED,
        times=replace(times, valid_to=event.at, superseded_at=event.at, updated_at=event.at),
        links=replace(links, superseded_by=by.id, supersedes=supersedes, conflicts_with=()),
        history=line.recorded(memory, replace(event, event=line.SUPERSEDED)),
    )


def _without_conflict(memory: Memory) -> Memory:
    return replace(memory, links=replace(memory.links, conflicts_with=()))
