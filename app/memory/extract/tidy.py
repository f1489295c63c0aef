"""The facts of one message against each other: one row for one thing, and not too many. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.memory.similar import says_all_of
from app.memory.slots import is_single

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.domain import Learned

MAX_FACTS: Final = 20


def tidy(found: Sequence[Learned]) -> tuple[Learned, ...]:
    """Of a slot that holds one value the last; no statement that says no more than another."""
    last = {item.fact.slot: item for item in found if _single(item)}
    kept: list[Learned] = []
    for item in found:
        if _single(item) and last[item.fact.slot] is not item:
            continue
        if not any(_says_all_of(other, item) for other in [*kept, *last.values()]):
            kept.append(item)
    return tuple(kept[:MAX_FACTS])


def _single(item: Learned) -> bool:
    return item.fact.slot is not None and is_single(item.fact.slot)


def _says_all_of(other: Learned, item: Learned) -> bool:
    """Whether `other` has every telling word of `item`, which has no slot of its own to fill."""
    if other is item:
        return False
    if other.fact.content.casefold() == item.fact.content.casefold():
        return True
    if item.fact.slot not in {None, other.fact.slot}:
        return False
    return says_all_of(other.fact.content, item.fact.content)
