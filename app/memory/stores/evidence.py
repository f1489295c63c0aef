"""What two searches say of the same rows. Pure."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final
from uuid import UUID

from app.memory.fusion import Scores, fuse

if TYPE_CHECKING:
    from collections.abc import Sequence

Hit = tuple[UUID, float]
UNRANKED: Final[Scores] = {"cosine": 0.0, "bm25": 0.0, "fused": 0.0}


class Evidence:
    """Both scores of each hit."""

    def __init__(self, dense: Sequence[Hit], lexical: Sequence[Hit]) -> None:
        self._searched = {"cosine": dense, "bm25": lexical}
        self._found: dict[UUID, Scores] = {}
        self.add(dense, lexical)

    def add(self, dense: Sequence[Hit], lexical: Sequence[Hit]) -> None:
        """Take the hits of both searches."""
        for name, hits in (("cosine", dense), ("bm25", lexical)):
            for key, score in hits:
                self._found.setdefault(key, {})[name] = score

    def keep_most_promising(self, limit: int, depth: int) -> None:
        """Drop all but the best by what they may score at most (Fagin's threshold algorithm).

        What a search of `depth` did not return scores no higher than the last that it did, and
        nothing at all if it returned fewer.
        """
        bounds = {
            name: hits[-1][1] if len(hits) == depth else 0.0
            for name, hits in self._searched.items()
        }
        at_most = {key: bounds | scores for key, scores in self._found.items()}
        self._found = {key: self._found[key] for key in islice(fuse(at_most), limit)}

    def one_sided(self) -> list[UUID]:
        """Hits that only one of the two searches has scored."""
        return [key for key, scores in self._found.items() if len(scores) == 1]

    def scores(self) -> dict[UUID, Scores]:
        """What was found; no word in common is a BM25 score of 0."""
        return {key: UNRANKED | scores for key, scores in self._found.items()}
