"""One order out of two searches. Pure.

Weighted sum of the cosine and the BM25 score over the best BM25 score of the call; on chat data it
beats rank fusion (FACTS: LoCoMo R@10 66.9 against 65.5 for RRF k=2). The result only orders;
whether a memory is relevant is the gate's question, asked of the scores themselves (M16).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.domain import Candidate

DENSE_WEIGHT: Final = 0.5
LEXICAL_WEIGHT: Final = 0.5


def fuse(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates with `fused` (0..1) added, best first."""
    best = max((c.scores.get("bm25", 0.0) for c in candidates), default=0.0) or 1.0
    fused = [replace(c, scores={**c.scores, "fused": _fused(c, best)}) for c in candidates]
    return tuple(sorted(fused, key=lambda c: c.scores["fused"], reverse=True))


def _fused(candidate: Candidate, best: float) -> float:
    cosine = max(candidate.scores.get("cosine", 0.0), 0.0)
    lexical = candidate.scores.get("bm25", 0.0) / best
    return DENSE_WEIGHT * cosine + LEXICAL_WEIGHT * lexical
