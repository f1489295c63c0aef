from __future__ import annotations

import pytest

from app.domain import Candidate
from app.memory.fusion import fuse
from tests.build import a_memory


def candidate(**scores: float) -> Candidate:
    return Candidate(a_memory("x"), scores)


def test_both_kinds_of_evidence_count() -> None:
    both, dense, words, neither = (
        candidate(cosine=0.6, bm25=5),
        candidate(cosine=0.7, bm25=0),
        candidate(cosine=0.1, bm25=6),
        candidate(),
    )
    ranked = fuse([neither, words, dense, both])
    assert [c.memory.id for c in ranked] == [c.memory.id for c in (both, words, dense, neither)]
    assert ranked[0].scores["fused"] == pytest.approx(0.5 * 0.6 + 0.5 * 5 / 6)
    assert ranked[0].scores["cosine"] == 0.6


def test_the_result_is_between_zero_and_one() -> None:
    extreme = [candidate(cosine=1, bm25=9), candidate(cosine=-1, bm25=0)]
    assert [c.scores["fused"] for c in fuse(extreme)] == [1.0, 0.0]
    assert fuse([]) == ()
