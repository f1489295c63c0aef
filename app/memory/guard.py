"""What may be stored of what was learned, by any extractor: no secret, no planted order. Pure.

A fact with a secret is dropped, an episode keeps its text without it (M32). An instruction that
would act on later calls waits for a person, unless it is about style or workflow (M33, `orders`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from app.domain import MAX_QUOTE_CHARS, Learned, MemoryType, State, clean_text
from app.memory.orders import waits
from app.memory.secrets import mask

if TYPE_CHECKING:
    from collections.abc import Sequence

# Facts of one turn (M34); a person says fewer, a flood is an attack or a paste.
MAX_FACTS: Final = 20
TOO_MANY: Final = "too_many"


@dataclass(frozen=True, slots=True)
class Guarded:
    """What is left: `kept` may be stored, each in its state; `blocked` are kinds, each once."""

    kept: tuple[Learned, ...]
    blocked: tuple[str, ...] = ()


def guard(learned: Sequence[Learned], said: str = "", *, limit: int = MAX_FACTS) -> Guarded:
    """The facts of one turn without secrets and beyond `limit`; `said` is the user's text.

    Secrets in `said` are counted even where no fact came of them.
    """
    blocked = set(mask(said).kinds)
    kept: list[Learned] = []
    for item in learned:
        clean, kinds = _without_secrets(item)
        blocked.update(kinds)
        if clean is not None:
            order = waits(clean) and not clean.withdraws
            kept.append(_pending(clean) if order else clean)
    if len(kept) > limit:
        blocked.add(TOO_MANY)
        kept = most_important(kept, limit)
    return Guarded(tuple(kept), tuple(sorted(blocked)))


def _pending(item: Learned) -> Learned:
    """It waits, and meanwhile takes nobody's place and does not stand in every prompt."""
    fact = replace(item.fact, slot=None, pinned=False)
    return replace(item, state=State.PENDING, fact=fact, about=(), topic=None)


def _without_secrets(item: Learned) -> tuple[Learned | None, tuple[str, ...]]:
    content, quote = mask(item.fact.content), mask(item.quote)
    kinds = (*content.kinds, *quote.kinds)
    text = clean_text(content.text)
    if not text or (kinds and item.fact.type is not MemoryType.EPISODIC):
        return None, kinds
    fact = replace(item.fact, content=text)
    return replace(item, fact=fact, quote=quote.text[:MAX_QUOTE_CHARS]), kinds


def most_important(items: list[Learned], limit: int) -> list[Learned]:
    """The `limit` most important ones, in the order they came."""
    ranked = sorted(range(len(items)), key=lambda place: -items[place].fact.importance)
    return [items[place] for place in sorted(ranked[:limit])]
