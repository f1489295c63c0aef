"""When two statements say the same: almost the same words, and the same telling ones. Pure."""

from __future__ import annotations

import re
from typing import Final

JACCARD: Final = 0.9
_WORD: Final = re.compile(r"\w+")
# Words that turn a statement into another one, however many others it shares (fault: equal words,
# different numbers).
_NEGATIONS: Final = frozenset(
    {
        "not",
        "no",
        "never",
        "t",
        "without",
        "nicht",
        "kein",
        "keine",
        "pas",
        "jamais",
        "nunca",
        "não",
    }
)


def words_of(text: str) -> frozenset[str]:
    """The distinct words of a text, folded."""
    return frozenset(_WORD.findall(text.casefold()))


def near_copies(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two sets of words are nearly equal, numbers, dates and negations exactly (M19)."""
    smaller, larger = sorted((len(one), len(other)))
    if smaller < JACCARD * larger:  # most pairs end here
        return False
    shared = len(one & other)
    return shared >= JACCARD * (smaller + larger - shared) and telling(one) == telling(other)


def telling(words: frozenset[str]) -> frozenset[str]:
    """The words that make another statement of it: numbers, dates and negations."""
    return frozenset(word for word in words if word[0].isdigit() or word in _NEGATIONS)
