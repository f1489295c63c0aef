"""When two statements say the same: almost the same words, and the same telling ones. Pure."""

from __future__ import annotations

import re
from typing import Final

JACCARD: Final = 0.9
# Two forms of one word begin alike, for so much of the longer one.
SHARED_START: Final = 0.65
MIN_START: Final = 4
MIN_STEM: Final = 3
# Of one word …
_ENDINGS: Final = frozenset({"", "s", "es", "ed", "ing"})
# … and of who makes or plays it: a report is no reporter.
_MAKERS: Final = frozenset(
    {"er", "ers", "mer", "mers", "ner", "or", "ors", "ist", "ists", "ista", "ian", "eur", "euse"}
)
_PLAIN: Final = str.maketrans("áàâãäéèêëíìîïóòôõöúùûüçñ", "aaaaaeeeeiiiiooooouuuucn")
# Words that a statement about the user holds anyway, and that tell two of them apart in nothing.
_EMPTY: Final = frozenset(
    {"the", "user", "s", "a", "an", "is", "are", "has", "have", "been", "of", "to", "and", "their"}
    | {"in", "at", "for", "on", "that", "they", "also", "really", "very"}
)
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


def says_all_of(one: str, other: str) -> bool:
    """Whether every word of `other` that tells something stands in `one`, in whatever form."""
    mine, theirs = words_of(one), words_of(other)
    if telling(mine) != telling(theirs):
        return False
    found = mine - _EMPTY
    return all(any(alike(word, known) for known in found) for word in theirs - _EMPTY)


def alike(one: str, other: str) -> bool:
    """Whether two words are forms of one, by their beginnings ("alergia", "alérgico")."""
    one, other = one.translate(_PLAIN), other.translate(_PLAIN)
    if one == other:
        return True
    shorter, longer = sorted((one, other), key=len)
    start = next(
        (n for n, (a, b) in enumerate(zip(shorter, longer, strict=False)) if a != b), len(shorter)
    )
    ends = {shorter[start:], longer[start:]}
    if start < MIN_STEM or ends & _MAKERS:
        return False
    return ends <= _ENDINGS or (start >= MIN_START and start >= SHARED_START * len(longer))


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
