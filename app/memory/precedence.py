"""Which of two statements is the later one, if that can be told. Pure.

The time of an event beats the time of arrival: an old chat that is imported today does not overturn
what is known. What was said in a chat speaks of the moment it was said, whatever it says of the
past ("I moved last month" is news); a record, written by the API or an import, speaks of the time
that it names as `valid_from`. What a person accepted or brought back speaks of the moment they did,
too. In one message the order of words is no order of events: there `valid_from` decides, then what
is so stands over what is not, or no longer, so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.domain import Via
from app.memory.history import ACTIVATED, RESTORED
from app.memory.similar import negates, words_of

if TYPE_CHECKING:
    from datetime import datetime

    from app.domain import Memory

_DECISIONS: Final = frozenset({ACTIVATED, RESTORED})
_RECORDS: Final = frozenset({Via.API, Via.IMPORT})


def spoken_at(memory: Memory) -> datetime:
    """The moment that a statement speaks of."""
    times = memory.times
    record = memory.origin.created_via in _RECORDS
    said = min(times.valid_from, times.created_at) if record else times.created_at
    return max([said, *_decisions(memory)])


def compared(one: Memory, other: Memory) -> int:
    """1 if `one` is the later, -1 if it is the earlier, 0 if the order cannot be told."""
    if _same_turn(one, other):
        first, second = (_in_turn(memory) for memory in (one, other))
        return (first > second) - (first < second)
    return (spoken_at(one) > spoken_at(other)) - (spoken_at(one) < spoken_at(other))


def newer(one: Memory, other: Memory) -> bool:
    """Whether `one` is the later; where that cannot be told, whether it came to be later."""
    order = compared(one, other)
    return order > 0 or (order == 0 and one.times.created_at > other.times.created_at)


def _same_turn(one: Memory, other: Memory) -> bool:
    turn = one.origin.source_turn
    same = turn is not None and turn == other.origin.source_turn
    return same and not (_decisions(one) or _decisions(other))


def _decisions(memory: Memory) -> list[datetime]:
    return [event.at for event in memory.history if event.event in _DECISIONS]


def _in_turn(memory: Memory) -> tuple[datetime, bool]:
    return memory.times.valid_from, not negates(words_of(memory.fact.content))
