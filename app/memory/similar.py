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
        "cannot",
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
# Beside a "not" in English: doesn't, do not; and what is left of isn't, hasn't, cannot.
_AUXILIARIES: Final = frozenset({"do", "does", "did", "don", "doesn", "didn"})
_WHOLE: Final = {
    "isn": "is",
    "aren": "are",
    "wasn": "was",
    "weren": "were",
    "has": "have",
    "hasn": "have",
    "haven": "have",
    "cannot": "can",
    "couldn": "could",
    "won": "will",
    "wouldn": "would",
}


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


def negates(words: frozenset[str]) -> bool:
    """Whether they say that something is not, or no longer, so."""
    return not words.isdisjoint(_NEGATIONS)


def opposed(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two sets of words are the same but for one "not": "likes tea", "doesn't like tea".

    Every other word must be shared, numbers too, blind to auxiliaries and a final `s`. So what is
    over ("no longer", "any more") opposes nothing: it comes after what it ends.
    """
    if negates(one) is negates(other):
        return False
    return _plain(one) == _plain(other)


def _plain(words: frozenset[str]) -> frozenset[str]:
    whole = {_WHOLE.get(word, word) for word in words - _AUXILIARIES} - _NEGATIONS
    return frozenset(word.removesuffix("s").removesuffix("e") for word in whole)
