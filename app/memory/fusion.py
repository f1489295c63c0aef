"""One order out of several searches: `FUSIONS` is the registry. Pure.

`weighted`: the nearness in meaning, the agreement of the word pieces (late interaction) and the
BM25 score over the best of the call, each times its weight. `rrf`: reciprocal rank fusion (Cormack,
Clarke and Büttcher, SIGIR 2009) with a small k; the usual 60 is worse than BM25 alone on chat data
(FACTS; docs/recall.md has the figures of both). The result only orders; whether a memory is
relevant is the gate's question, asked of the scores themselves (M16).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

COSINE: Final = "cosine"
BM25: Final = "bm25"
MAXSIM: Final = "maxsim"
MULTILINGUAL: Final = "multilingual"
RELEVANCE: Final = "relevance"
RRF_K: Final = 2
# The multilingual encoder's cosines are lower than MiniLM's: true questions of bench/data and
# everyday prompts part at 0.23 where MiniLM's part at 0.32.
MULTILINGUAL_SCALE: Final = 1.4
# BM25 knows the stop words and stems of English only: a question in another language shares its
# little words with most of what is known (docs/recall.md has the figures).
FOREIGN_LEXICAL: Final = 0.1
# So much nearer by the multilingual encoder, and MiniLM has taken another language for English.
MISREAD: Final = 0.4
# A text that MiniLM does not read has no token vectors. It is taken to have what those of its
# nearness have on average (a line through 120,000 pairs of LoCoMo and BEAM).
USUAL_MAXSIM: Final = 0.27
USUAL_SLOPE: Final = 0.36
# What word pieces that agree better than usual add to the relevance: of 0 to 2, the one that parts
# true questions from everyday prompts best and PrecisionMemBench's beliefs, too (docs/recall.md).
LATE_RELEVANCE: Final = 1.4

Scores = Mapping[int, float]
# What each search says of the keys; one that a search has not found is not in its scores.
Fields = Mapping[str, Scores]
Fuse = Callable[[Iterable[int], Fields], dict[int, float]]


@dataclass(frozen=True, slots=True)
class Weights:
    """What each kind of evidence counts for in the order; docs/recall.md has the figures.

    The first three make `weighted`. Added by the gate: `named`, for a memory about whom the
    question names; `importance`, times the memory's; `session`, times the worth of the best excerpt
    of the same conversation. `recency` is the share of an excerpt's worth that age can take: enough
    to decide between equals.
    """

    dense: float = 0.5
    late: float = 2.0
    lexical: float = 0.5
    named: float = 0.15
    importance: float = 0.1
    session: float = 0.4
    recency: float = 0.01


def nearness(fields: Fields, key: int) -> float:
    """Cosine of the meanings, as MiniLM measures it; -1..1, 0 if nobody has measured it."""
    return fields[COSINE][key] if _is_read(fields, key) else _across(fields, key)


def _across(fields: Fields, key: int) -> float:
    return min(MULTILINGUAL_SCALE * fields[MULTILINGUAL].get(key, 0.0), 1.0)


def _is_read(fields: Fields, key: int) -> bool:
    """Whether MiniLM has read both texts, and they were English.

    A few words may not say what language they are in ("Colecciono sellos"): then they share none
    with the question, and the other encoder finds them far nearer.
    """
    cosine = fields[COSINE].get(key)
    if cosine is None:
        return False
    return key in fields[BM25] or _across(fields, key) - cosine <= MISREAD


def _agreement(fields: Fields, key: int, near: float) -> float:
    """MaxSim of the word pieces, or what is usual for texts that are so near."""
    usual = USUAL_MAXSIM + USUAL_SLOPE * max(near, 0.0)
    return fields[MAXSIM].get(key, usual) if _is_read(fields, key) else usual


def relevance(fields: Fields, key: int) -> float:
    """On the scale of a cosine: the nearness, and by how much the word pieces agree with it.

    One number for the gate: a vector of a whole text misses the one word that matters, and a word
    alone the sense. Where word pieces were not compared, the nearness alone.
    """
    near = nearness(fields, key)
    usual = USUAL_MAXSIM + USUAL_SLOPE * max(near, 0.0)
    return near + LATE_RELEVANCE * (_agreement(fields, key, near) - usual)


def weighted(weights: Weights = Weights()) -> Fuse:
    """From 0 to the sum of the weights for each key."""

    def fuse(keys: Iterable[int], fields: Fields) -> dict[int, float]:
        bm25, maxsim = fields[BM25], fields[MAXSIM]
        keys = list(keys)
        lexical = weights.lexical * (1.0 if fields[COSINE] else FOREIGN_LEXICAL)
        best = max((bm25[key] for key in keys if key in bm25), default=0.0) or 1.0
        worth = {}
        for key in keys:
            near = nearness(fields, key)
            worth[key] = weights.dense * max(near, 0.0) + lexical * bm25.get(key, 0.0) / best
            if maxsim:
                worth[key] += weights.late * _agreement(fields, key, near)
        return worth

    return fuse


def rrf(_: Weights = Weights()) -> Fuse:
    """From 0 to 3/(k+1) for each key; what a search has not scored gets nothing for it."""

    def fuse(keys: Iterable[int], fields: Fields) -> dict[int, float]:
        worth = dict.fromkeys(keys, 0.0)
        near = {key: nearness(fields, key) for key in worth}
        for scores in (near, fields[BM25], fields[MAXSIM]):
            found = sorted((k for k in worth if scores.get(k, 0.0) > 0), key=scores.__getitem__)
            for rank, key in enumerate(reversed(found), 1):
                worth[key] += 1 / (RRF_K + rank)
        return worth

    return fuse


FUSIONS: Final[dict[str, Callable[[Weights], Fuse]]] = {"weighted": weighted, "rrf": rrf}
