"""What several searches say of the same rows. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import UUID

from app.memory.fusion import (
    BM25,
    COSINE,
    MAXSIM,
    MULTILINGUAL,
    RELEVANCE,
    Fuse,
    nearness,
    relevance,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Hit = tuple[UUID, float]
# Of each search, by what it measures: best first.
Hits = dict[str, list[Hit]]
Scores = dict[str, float]
UNRANKED: Final[Scores] = {COSINE: 0.0, BM25: 0.0, RELEVANCE: 0.0, "fused": 0.0}


class Evidence:
    """All scores of each hit. Keyed by the id's integer: a UUID hashes in Python, slowly."""

    def __init__(self, fuse: Fuse) -> None:
        self._fuse = fuse
        self._ids: dict[int, UUID] = {}
        self._fields: dict[str, dict[int, float]] = {
            name: {} for name in (COSINE, BM25, MAXSIM, MULTILINGUAL)
        }

    def add(self, found: Mapping[str, Sequence[Hit]]) -> None:
        """Take the hits of all searches."""
        for name, hits in found.items():
            scores = self._fields[name]
            for key, score in hits:
                self._ids[key.int] = key
                scores[key.int] = score

    def ids(self) -> list[UUID]:
        """Whatever was found."""
        return list(self._ids.values())

    def best(self, limit: int) -> dict[UUID, Scores]:
        """The best hits first, with what is known of each; no word in common is a BM25 of 0."""
        worth = self._fuse(self._ids, self._fields)
        order = sorted(worth, key=worth.__getitem__, reverse=True)[:limit]
        return {self._ids[key]: self._scored(key, worth[key]) for key in order}

    def _scored(self, key: int, worth: float) -> Scores:
        seen = {
            COSINE: nearness(self._fields, key),
            BM25: self._fields[BM25].get(key, 0.0),
            RELEVANCE: relevance(self._fields, key),
            "fused": worth,
        }
        for name in (MAXSIM, MULTILINGUAL):
            if (score := self._fields[name].get(key)) is not None:
                seen[name] = score
        return seen
