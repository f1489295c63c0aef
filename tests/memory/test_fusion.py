from __future__ import annotations

import pytest

from app.memory.fusion import FUSIONS, RRF_K, rrf, weighted

COSINE = {1: 0.6, 2: 0.1, 3: 0.7}
BM25 = {1: 5.0, 2: 6.0}
NOTHING = (0.0, 0.0)


def order(worth: dict[int, float]) -> list[int]:
    return sorted(worth, key=worth.__getitem__, reverse=True)


@pytest.mark.requirement("M16")
@pytest.mark.parametrize("name", sorted(FUSIONS))
def test_both_kinds_of_evidence_count(name: str) -> None:
    assert order(FUSIONS[name]([1, 2, 3], COSINE, BM25, NOTHING))[-1] == 3
    assert FUSIONS[name]([], {}, {}, NOTHING) == {}


def test_weighted_is_half_the_cosine_and_half_the_share_of_the_best_word_score() -> None:
    worth = weighted([1, 2, 3], COSINE, BM25, NOTHING)
    assert worth[1] == pytest.approx(0.5 * 0.6 + 0.5 * 5 / 6)
    assert order(worth) == [1, 2, 3]
    assert weighted([1], {1: 1.0}, {1: 9.0}, NOTHING) == {1: 1.0}
    assert weighted([1], {1: -1.0}, {}, NOTHING) == {1: 0.0}


def test_what_a_search_has_not_scored_counts_as_told() -> None:
    assert weighted([1, 2], {1: 0.6}, {1: 6.0}, (0.5, 3.0))[2] == pytest.approx(0.5)


def test_rrf_counts_ranks_only() -> None:
    worth = rrf([1, 2, 3], COSINE, BM25, NOTHING)
    first, second, third = (1 / (RRF_K + rank) for rank in (1, 2, 3))
    assert worth == pytest.approx({1: second + second, 2: third + first, 3: first})
    wider = rrf([1, 2, 3], {key: 10 * score for key, score in COSINE.items()}, BM25, NOTHING)
    assert wider == worth


def test_no_evidence_is_no_rank() -> None:
    assert rrf([1, 2], {1: -0.2}, {2: 0.0}, NOTHING) == {1: 0.0, 2: 0.0}
