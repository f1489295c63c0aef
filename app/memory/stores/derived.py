"""What a stored row has beside the memory's own fields, so that conditions can ask for it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.memory.belief import held
from app.memory.rows import digest, micros
from app.memory.stores.plan import NEVER, shelf

if TYPE_CHECKING:
    from app.domain import Memory
    from app.memory.belief import Span
    from app.memory.rows import Row


def derived(memory: Memory, key: bytes) -> Row:
    """Times as integers, whose it is, the content's digest, and when it was held true."""
    return {
        "created_us": micros(memory.times.created_at),
        "updated_us": micros(memory.times.updated_at),
        "pin": int(memory.fact.pinned),
        "shelf": shelf(memory.owner, memory.pool, memory.state),
        "digest": digest(key, memory.fact.content),
        **_held(held(memory)),
    }


def _held(spans: list[Span]) -> Row:
    """The last time and the first one: what came back twice is not asked of what lay between."""
    row: Row = {}
    names = (("held_from_us", "held_until_us"), ("first_from_us", "first_until_us"))
    for (begin, end), span in zip(names, (spans[-1:], spans[:-1][:1]), strict=True):
        for known_from, until in span:
            row |= {begin: micros(known_from), end: min(micros(until), NEVER)}
    return row
