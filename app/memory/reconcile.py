"""A new fact against what is already known: what to write. Pure.

Same statement → reinforce the old row. Same slot, other value → what was said later wins, the other
is kept as superseded (M35); so is a row that `new.links.supersedes` names. A contradiction without
an order is a conflict for a person (M37, `conflict`). Everything else is added. What a person
rejected or forgot does not come back from the turn it came from.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final
from uuid import uuid5

from app.domain import Change, Event, State
from app.memory import conflict
from app.memory import history as line
from app.memory.precedence import compared, newer
from app.memory.similar import near_copies, says_all_of, words_of
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
    others = [m for m in rivals if m.state is State.ACTIVE and m.id != new.id]
    if any(_settles(memory, new) for memory in rivals):
        return _cut_off(new, rivals, others, now)
    named = [memory for memory in others if memory.id in new.links.supersedes]
    holders = [m for m in others if _same_slot(m, new) or m in named]
    waiting = [m for m in rivals if conflict.waits(m) and m.id != new.id]
    if own := [memory for memory in rivals if memory.id == new.id]:  # perhaps not to the end
        over, clash = _parted(new, holders)
        clash += [m for m in others if m not in clash and conflict.linked(own[0], [m])]
        return (*_ended(new, over, now), *conflict.opened(new, clash, now))
    for memory in others:
        if _same(memory, new):
            return _heard_again(memory, new, named, waiting, now)
    again = [m for m in waiting if conflict.settles(m, new) and _same(m, new)]
    holders += [m for m in others if conflict.linked(m, again) and m not in holders]
    opposed = [m for m in others if m not in holders and _opposed(m, new)]
    return _placed(new, holders, opposed, waiting, now)


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
    return decided and not conflict.settles(memory, new) and _same(memory, new)


def _same(memory: Memory, new: Memory) -> bool:
    if memory.fact.type is not new.fact.type:
        return False
    old, said = memory.fact, new.fact
    grows = old.slot is not None and old.slot == said.slot and not is_single(old.slot)
    # "I have a peanut allergy", "I'm allergic to peanuts"
    if grows and says_all_of(old.content, said.content) and says_all_of(said.content, old.content):
        return True
    return near_copies(words_of(old.content), words_of(said.content))


def _heard_again(
    memory: Memory,
    new: Memory,
    named: Sequence[Memory],
    waiting: Sequence[Memory],
    now: datetime,
) -> tuple[Change, ...]:
    """`memory`, which says the same, reinforced; it takes the place that `new` would have."""
    over = [m for m in named if m is not memory and not _is_later(m, new)]
    settled = [m for m in waiting if conflict.settles(m, new)]
    over += [m for m in settled if conflict.linked(m, [memory, *over])]
    left = [m for m in waiting if m not in over and conflict.linked(m, over)]
    stronger = conflict.as_newest(_reinforced(memory, new, over, now), left, now)
    ended = _ended(replace(new, id=memory.id), over, now)
    opened = conflict.opened(memory, left, now, over)
    return (Change(stronger, expect=memory), *ended, *opened)


def _opposed(memory: Memory, new: Memory) -> bool:
    return new.state is State.ACTIVE and conflict.contradicts(memory, new)


def _placed(
    new: Memory,
    holders: Sequence[Memory],
    opposed: Sequence[Memory],
    waiting: Sequence[Memory],
    now: datetime,
) -> tuple[Change, ...]:
    """`new` as the one that holds, as old news, or as one side of a conflict."""
    if later := [memory for memory in holders if _is_later(memory, new)]:
        successor = min(later, key=lambda m: (m.times.created_at, m.id))
        plain = replace(new, links=replace(new.links, supersedes=()))
        plain = line.never_held(plain, line.LATE)
        return (Change(_superseded(plain, successor, now)),)
    over, clash = _parted(new, holders)
    clash += opposed
    if after := [memory for memory in clash if newer(memory, new)]:
        return conflict.withheld(new, after, now)
    settled = (memory for memory in waiting if conflict.settles(memory, new))
    over += [m for m in settled if conflict.linked(m, over) or _same(m, new)]
    open_still = [m for m in waiting if m not in over]
    clash += [m for m in open_still if conflict.linked(m, over) or conflict.linked(m, clash)]
    links = replace(new.links, supersedes=tuple(memory.id for memory in over))
    held = conflict.as_newest(replace(new, links=links), clash, now)
    return (Change(held), *_ended(new, over, now), *conflict.opened(new, clash, now, over))


def _parted(new: Memory, holders: Sequence[Memory]) -> tuple[list[Memory], list[Memory]]:
    """Those that `new` comes after or names, and those of its slot to which it has no order."""
    clash = [
        memory
        for memory in holders
        if compared(memory, new) == 0 and memory.id not in new.links.supersedes
    ]
    return [m for m in holders if m not in clash and not _is_later(m, new)], clash


def _cut_off(
    new: Memory, rivals: Sequence[Memory], others: Sequence[Memory], now: datetime
) -> tuple[Change, ...]:
    """Nothing to write, unless `new` waits in a conflict of which the other side knows nothing."""
    own = next((m for m in rivals if m.id == new.id and conflict.waits(m)), None)
    if own is None:
        return ()
    return conflict.joined(own, [m for m in others if m.id in own.links.conflicts_with], now)


def _ended(new: Memory, holders: list[Memory], now: datetime) -> tuple[Change, ...]:
    return tuple(Change(_superseded(memory, new, now), expect=memory) for memory in holders)


def _is_later(memory: Memory, new: Memory) -> bool:
    return compared(memory, new) > 0


def _same_slot(memory: Memory, new: Memory) -> bool:
    """Whether `new` is another value of its slot; one whose time was over by then keeps it."""
    slot, ended = new.fact.slot, memory.times.valid_to
    if slot is None or memory.fact.slot != slot or not is_single(slot):
        return False
    return ended is None or ended > new.times.valid_from


def _reinforced(memory: Memory, new: Memory, over: Sequence[Memory], now: datetime) -> Memory:
    fact, links = memory.fact, memory.links
    ended = {memory.id for memory in over}
    supersedes = (*links.supersedes, *(memory.id for memory in over))
    conflicts = tuple(other for other in links.conflicts_with if other not in ended)
    confidence = min(fact.confidence + (1 - fact.confidence) * CONFIDENCE_GAIN, MAX_CONFIDENCE)
    importance = min(fact.importance + IMPORTANCE_GAIN, 1.0)
    return replace(
        memory,
        fact=replace(fact, confidence=max(confidence, fact.confidence), importance=importance),
        times=replace(memory.times, updated_at=now),
        links=replace(links, supersedes=supersedes, conflicts_with=conflicts),
        history=line.recorded(memory, Event(now, line.REINFORCED, new.origin.created_by)),
    )


def _superseded(memory: Memory, by: Memory, now: datetime) -> Memory:
    times = replace(memory.times, valid_to=by.times.valid_from, superseded_at=now, updated_at=now)
    return replace(
        memory,
        state=State.SUPERSEDED,
        times=times,
        links=replace(memory.links, superseded_by=by.id, conflicts_with=()),
        history=line.recorded(memory, Event(now, line.SUPERSEDED, by.origin.created_by)),
    )
