"""When a memory was held true: "what did we believe on that day" (M38). Pure.

It is known from `created_at` on, and withheld from the day that it was superseded, rejected,
expired or set aside in a conflict, until a person brought it back; its history says when. Of that
time it counts only while it was true in the world: from `valid_from` on; up to `valid_to` while it
is active, and where the world moves on later than we heard of it ("on the first I move to Porto").
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from app.domain import State
from app.memory import history as line

if TYPE_CHECKING:
    from app.domain import Event, Memory

Span = tuple[datetime, datetime]
OPEN_END: Final = datetime.max.replace(tzinfo=UTC)
_BACK: Final = frozenset({line.ACTIVATED, line.RESTORED})
_GONE: Final = frozenset({line.SUPERSEDED, line.REJECTED, line.EXPIRED})


def held(memory: Memory) -> list[Span]:
    """The times (from, until) in which it was held true, the oldest first."""
    if memory.state is State.FORGOTTEN:
        return []
    times = memory.times
    spans = _known(memory)
    if spans and memory.state is State.ACTIVE and times.valid_to is not None:
        spans[-1] = (spans[-1][0], times.valid_to)
    elif spans and memory.state is State.SUPERSEDED and times.valid_to is not None:
        spans[-1] = (spans[-1][0], max(spans[-1][1], times.valid_to))
    spans = [(max(begin, times.valid_from), end) for begin, end in spans]
    return [(begin, end) for begin, end in spans if begin < end]


def _known(memory: Memory) -> list[Span]:
    """The times in which it was active, as its history and its state tell."""
    times = memory.times
    spans: list[Span] = []
    first = memory.history[0] if memory.history else None
    born = first is None or first.event != line.CREATED or first.reason is None
    begin = times.created_at if born else None
    for event in memory.history:
        if begin is None and event.event in _BACK:
            begin = event.at
        elif begin is not None and _withholds(event):
            spans.append((begin, event.at))
            begin = None
    if memory.state is State.ACTIVE:
        spans.append((begin or times.updated_at, OPEN_END))
    elif begin is not None:
        spans.append((begin, times.superseded_at or times.updated_at))
    return spans


def _withholds(event: Event) -> bool:
    return event.event in _GONE or (event.event, event.reason) == (line.CONFLICT, line.WAITS)
