from __future__ import annotations

import pytest

from app.memory.fusion import fuse


def test_both_kinds_of_evidence_count() -> None:
    found = {
        "neither": {"cosine": 0.0, "bm25": 0.0},
        "words": {"cosine": 0.1, "bm25": 6.0},
        "dense": {"cosine": 0.7, "bm25": 0.0},
        "both": {"cosine": 0.6, "bm25": 5.0},
    }
    ranked = fuse(found)
    assert list(ranked) == ["both", "words", "dense", "neither"]
    assert ranked["both"]["fused"] == pytest.approx(0.5 * 0.6 + 0.5 * 5 / 6)
    assert ranked["both"]["cosine"] == 0.6


def test_the_result_is_between_zero_and_one() -> None:
    extreme = {"best": {"cosine": 1.0, "bm25": 9.0}, "worst": {"cosine": -1.0, "bm25": 0.0}}
    assert [scores["fused"] for scores in fuse(extreme).values()] == [1.0, 0.0]
    assert fuse({}) == {}
