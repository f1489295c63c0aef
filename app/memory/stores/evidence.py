"""What two searches say of the same rows. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import UUID

from app.memory.fusion import fused

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Hit = tuple[UUID, float]
Scores = dict[str, float]
UNRANKED: Final[Scores] = {"cosine": 0.0, "bm25": 0.0, "fused": 0.0}


class Evidence:
    """Both scores of each hit. Keyed by the id's integer: a UUID hashes in Python, slowly."""

    def __init__(self, dense: Sequence[Hit], lexical: Sequence[Hit]) -> None:
        self._searched = (dense, lexical)
        self._ids: dict[int, UUID] = {}
        self._cosine: dict[int, float] = {}
        self._bm25: dict[int, float] = {}
        self.add(dense, lexical)

    def add(self, dense: Sequence[Hit], lexical: Sequence[Hit]) -> None:
        """Take the hits of both searches."""
        for scores, hits in ((self._cosine, dense), (self._bm25, lexical)):
            for key, score in hits:
                self._ids[key.int] = key
                scores[key.int] = score

    def keep_most_promising(self, limit: int, depth: int) -> None:
        """Drop all but the best by what they may score at most (Fagin's threshold algorithm).

        What a search of `depth` did not return scores no higher than the last that it did, and
        nothing at all if it returned fewer.
        """
        cosine, bm25 = (hits[-1][1] if len(hits) == depth else 0.0 for hits in self._searched)
        best = self._ranked(cosine, bm25)[:limit]
        self._ids = {key: self._ids[key] for key in best}

    def one_sided(self) -> list[UUID]:
        """Hits that only one of the two searches has scored."""
        return [
            memory_id
            for key, memory_id in self._ids.items()
            if (key in self._cosine) is not (key in self._bm25)
        ]

    def scores(self) -> dict[UUID, Scores]:
        """The hits, best first; no word in common is a BM25 score of 0."""
        best = self._best()
        return {self._ids[key]: self._scored(key, best) for key in self._ranked(0.0, 0.0)}

    def _ranked(self, cosine: float, bm25: float) -> list[int]:
        """The hits, best first, with these scores where a search has none."""
        best = self._best()
        worth = {
            key: fused(self._cosine.get(key, cosine), self._bm25.get(key, bm25), best)
            for key in self._ids
        }
        return sorted(worth, key=worth.__getitem__, reverse=True)

    def _scored(self, key: int, best: float) -> Scores:
        cosine, bm25 = self._cosine.get(key, 0.0), self._bm25.get(key, 0.0)
        return {"cosine": cosine, "bm25": bm25, "fused": fused(cosine, bm25, best)}

    def _best(self) -> float:
        return max(_scores_of(self._ids, self._bm25), default=0.0) or 1.0


def _scores_of(keys: Iterable[int], scores: dict[int, float]) -> list[float]:
    return [scores[key] for key in keys if key in scores]
