"""Orders of the same candidates and what each is worth. Pure."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final

from app.memory.gates.budget import fit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from uuid import UUID

    from app.domain import Candidate

    Order = Callable[[Sequence[Candidate]], list[Candidate]]

SEED: Final = 20261130
PRODUCT: Final = "product"
# More lines than fit into any budget here; counting all of a conversation would only take time.
PACKED: Final = 200
_SHUFFLER: Final = random.Random(SEED)


def _by(score: Callable[[Mapping[str, float]], float]) -> Order:
    """Best first; between equals the id decides, which says nothing of relevance."""
    return lambda found: sorted(found, key=lambda c: (-score(c.scores), c.memory.id.int))


def _shuffled(found: Sequence[Candidate]) -> list[Candidate]:
    order = sorted(found, key=lambda c: c.memory.id.int)
    _SHUFFLER.shuffle(order)
    return order


def _weighted(found: Sequence[Candidate]) -> list[Candidate]:
    """Half the cosine, half the BM25 score over the best of the call."""
    best = max((c.scores["bm25"] for c in found), default=0.0) or 1.0
    return _by(lambda s: max(s["cosine"], 0.0) + s["bm25"] / best)(found)


# The floors, over the same candidates with the same scores; the last as the search orders them.
WAYS: Final[dict[str, Order]] = {
    "random": _shuffled,
    "BM25": _by(lambda scores: scores["bm25"]),
    "dense": _by(lambda scores: scores["cosine"]),
    "weighted .5/.5": _weighted,
    PRODUCT: list,
}


def among(evidence: frozenset[UUID], shown: Iterable[UUID]) -> float:
    """The share of the evidence that is shown."""
    return len(evidence.intersection(shown)) / len(evidence)


def at(count: int, ranked: Sequence[Candidate]) -> list[UUID]:
    """The first so many."""
    return [candidate.memory.id for candidate in ranked[:count]]


def within(tokens: int, ranked: Sequence[Candidate], count: Callable[[str], int]) -> list[UUID]:
    """What a block of that many tokens holds whole, packed in this order.

    By the product's own packing: its fence, its lines, a date once for each day; what does not fit
    is shortened (and does not count here) or passed over.
    """
    packed = fit(ranked[:PACKED], PACKED, tokens, count)
    return [item.memory.id for item in packed if item.text == item.memory.fact.content]


def first_sessions(number: int, ranked: Sequence[Candidate]) -> list[str]:
    """The first so many conversations that the order shows, by their best message."""
    seen: dict[str, None] = {}
    for candidate in ranked:
        seen.setdefault(candidate.memory.origin.conversation_id or "")
        if len(seen) == number:
            break
    return list(seen)


def mean(values: Sequence[float]) -> float:
    """In percent; of nothing, 0."""
    return 100 * sum(values) / len(values) if values else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]
