"""A memory's history: one line for each thing that happened to it, bounded. Pure.

A line says when, what, who and why; never what the memory says.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from app.domain import MAX_HISTORY, Event, State

if TYPE_CHECKING:
    from datetime import datetime

    from app.domain import Memory

CREATED: Final = "created"
REINFORCED: Final = "reinforced"
CORRECTED: Final = "corrected"
SUPERSEDED: Final = "superseded"
RESTORED: Final = "restored"
REJECTED: Final = "rejected"
EXPIRED: Final = "expired"
RETRACTED: Final = "retracted"
ACTIVATED: Final = "activated"
# One of two that contradict each other (M37); `WAITS` is the reason on the one that is withheld.
CONFLICT: Final = "conflict"
WAITS: Final = "waits"
# Why a memory was not held true from the beginning: it waits for a person, or it is old news.
PENDING: Final = "pending"
LATE: Final = "late"


def created(at: datetime, by: str, state: State = State.ACTIVE) -> tuple[Event, ...]:
    """The history of a memory that comes to be in that state."""
    return (Event(at, CREATED, by, None if state is State.ACTIVE else state.value),)


def recorded(memory: Memory, event: Event) -> tuple[Event, ...]:
    """The memory's history with one more line; of too many, the old reinforcements go first."""
    lines = [*memory.history, event]
    while len(lines) > MAX_HISTORY:
        dull = (place for place, line in enumerate(lines[:-1]) if line.event == REINFORCED)
        # The first line says how it came to be.
        del lines[next(dull, 1)]
    return tuple(lines)


def never_held(memory: Memory, reason: str) -> Memory:
    """The new memory, whose history says that it was not held true when it came to be."""
    first, rest = memory.history[:1], memory.history[1:]
    if not first or first[0].event != CREATED:
        first = created(memory.times.created_at, memory.origin.created_by)
        rest = memory.history
    return replace(memory, history=(replace(first[0], reason=reason), *rest))
