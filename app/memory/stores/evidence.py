"""What two searches say of the same rows. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import UUID

from app.memory.fusion import Fuse, weighted

if TYPE_CHECKING:
    from collections.abc import Sequence

Hit = tuple[UUID, float]
Scores = dict[str, float]
UNRANKED: Final[Scores] = {"cosine": 0.0, "bm25": 0.0, "fused": 0.0}


class Evidence:
    """Both scores of each hit. Keyed by the id's integer: a UUID hashes in Python, slowly."""

    def __init__(self, dense: Sequence[Hit], lexical: Sequence[Hit], fuse: Fuse = weighted) -> None:
        self._searched = (dense, lexical)
        self._fuse = fuse
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
        worth = self._worth(0.0, 0.0)
        return {self._ids[key]: self._scored(key, worth[key]) for key in _ordered(worth)}

    def _ranked(self, cosine: float, bm25: float) -> list[int]:
        """The hits, best first, with these scores where a search has none."""
        return _ordered(self._worth(cosine, bm25))

    def _worth(self, cosine: float, bm25: float) -> dict[int, float]:
        return self._fuse(self._ids, self._cosine, self._bm25, (cosine, bm25))

    def _scored(self, key: int, worth: float) -> Scores:
        cosine, bm25 = self._cosine.get(key, 0.0), self._bm25.get(key, 0.0)
        return {"cosine": cosine, "bm25": bm25, "fused": worth}


def _ordered(worth: dict[int, float]) -> list[int]:
    return sorted(worth, key=worth.__getitem__, reverse=True)
