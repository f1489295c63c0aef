"""One order out of two searches: `FUSIONS` is the registry. Pure.

`weighted`: half the cosine, half the BM25 score over the best of the call. `rrf`: reciprocal rank
fusion (Cormack, Clarke and Büttcher, SIGIR 2009) with a small k; the usual 60 is worse than BM25
alone on chat data (FACTS; docs/recall.md has the figures of both). The result only orders; whether
a memory is relevant is the gate's question, asked of the scores themselves (M16).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

DENSE_WEIGHT: Final = 0.5
LEXICAL_WEIGHT: Final = 0.5
RRF_K: Final = 2

Scores = Mapping[int, float]
# Keys, their cosines and BM25 scores, and what stands for one that a search has not scored.
Fuse = Callable[[Iterable[int], Scores, Scores, tuple[float, float]], dict[int, float]]


def weighted(
    keys: Iterable[int], cosine: Scores, bm25: Scores, missing: tuple[float, float]
) -> dict[int, float]:
    """0..1 for each key."""
    keys = list(keys)
    best = max((bm25[key] for key in keys if key in bm25), default=0.0) or 1.0
    no_cosine, no_bm25 = missing
    return {
        key: DENSE_WEIGHT * max(cosine.get(key, no_cosine), 0.0)
        + LEXICAL_WEIGHT * bm25.get(key, no_bm25) / best
        for key in keys
    }


def rrf(
    keys: Iterable[int], cosine: Scores, bm25: Scores, missing: tuple[float, float]
) -> dict[int, float]:
    """0..2/(k+1) for each key; what a search has not scored gets nothing for it."""
    del missing
    worth = dict.fromkeys(keys, 0.0)
    for scores in (cosine, bm25):
        found = sorted((k for k in worth if scores.get(k, 0.0) > 0), key=scores.__getitem__)
        for rank, key in enumerate(reversed(found), 1):
            worth[key] += 1 / (RRF_K + rank)
    return worth


FUSIONS: Final[dict[str, Fuse]] = {"weighted": weighted, "rrf": rrf}
