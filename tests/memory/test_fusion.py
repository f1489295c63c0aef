from __future__ import annotations

import pytest

from app.memory.fusion import (
    FOREIGN_LEXICAL,
    FUSIONS,
    LATE_RELEVANCE,
    MULTILINGUAL_SCALE,
    RRF_K,
    USUAL_MAXSIM,
    USUAL_SLOPE,
    Weights,
    nearness,
    relevance,
    rrf,
    weighted,
)

COSINE = {1: 0.6, 2: 0.1, 3: 0.7}
BM25 = {1: 5.0, 2: 6.0}


def fields(**given: dict[int, float]) -> dict[str, dict[int, float]]:
    names = ("cosine", "bm25", "maxsim", "multilingual")
    return {name: given.get(name, {}) for name in names}


def order(worth: dict[int, float]) -> list[int]:
    return sorted(worth, key=worth.__getitem__, reverse=True)


@pytest.mark.requirement("M16")
@pytest.mark.parametrize("name", sorted(FUSIONS))
def test_both_kinds_of_evidence_count(name: str) -> None:
    fuse = FUSIONS[name](Weights())
    assert order(fuse([1, 2, 3], fields(cosine=COSINE, bm25=BM25)))[-1] == 3
    assert fuse([], fields()) == {}


@pytest.mark.requirement("M16")
@pytest.mark.parametrize("name", sorted(FUSIONS))
def test_word_pieces_that_agree_count(name: str) -> None:
    fuse = FUSIONS[name](Weights())
    same = {1: 0.5, 2: 0.5}
    maxsim = {1: 0.3, 2: 0.4}
    assert order(fuse([1, 2], fields(cosine=same, maxsim=maxsim))) == [2, 1]


def test_weighted_is_the_cosine_and_the_share_of_the_best_word_score() -> None:
    fuse = weighted(Weights(dense=0.5, lexical=0.5))
    worth = fuse([1, 2, 3], fields(cosine=COSINE, bm25=BM25))
    assert worth[1] == pytest.approx(0.5 * 0.6 + 0.5 * 5 / 6)
    assert order(worth) == [1, 2, 3]
    assert fuse([1], fields(cosine={1: 1.0}, bm25={1: 9.0})) == {1: 1.0}
    assert fuse([1], fields(cosine={1: -1.0})) == {1: 0.0}


def test_weights_weigh() -> None:
    worth = weighted(Weights(dense=1, late=3, lexical=0))(
        [1], fields(cosine={1: 0.5}, maxsim={1: 0.25}, bm25={1: 4.0})
    )
    assert worth == {1: pytest.approx(0.5 + 0.75)}


@pytest.mark.requirement("M15")
def test_a_text_without_token_vectors_is_taken_as_usual() -> None:
    maxsim = {1: 0.3}
    worth = weighted(Weights(dense=0, late=1))(
        [1, 2], fields(cosine={1: 0.5}, multilingual={2: 0.5}, maxsim=maxsim)
    )
    assert worth[2] == pytest.approx(USUAL_MAXSIM + USUAL_SLOPE * 0.5 * MULTILINGUAL_SCALE)


@pytest.mark.requirement("M15")
def test_words_of_a_question_that_is_not_english_count_for_less() -> None:
    worth = weighted(Weights(dense=0, lexical=1))([1], fields(multilingual={1: 0.5}, bm25={1: 4.0}))
    assert worth == {1: pytest.approx(FOREIGN_LEXICAL)}


def test_nearness_is_minilms_where_it_has_read_both() -> None:
    seen = fields(cosine={1: 0.3}, multilingual={1: 0.4, 2: 0.2})
    assert [nearness(seen, key) for key in (1, 2, 3)] == pytest.approx(
        [0.3, 0.2 * MULTILINGUAL_SCALE, 0]
    )


@pytest.mark.requirement("M15")
def test_what_only_the_multilingual_encoder_understands_was_not_english() -> None:
    far = {1: 0.0, 2: 0.0}
    seen = fields(cosine=far, multilingual={1: 0.5, 2: 0.5}, bm25={2: 1.0}, maxsim=far)
    assert nearness(seen, 1) == pytest.approx(0.5 * MULTILINGUAL_SCALE)
    assert nearness(seen, 2) == 0.0  # they share a word of English
    worth = weighted()([1, 2], seen)
    assert worth[1] > worth[2]


@pytest.mark.requirement("M16")
def test_relevance_is_the_nearness_and_how_well_the_word_pieces_agree() -> None:
    usual = USUAL_MAXSIM + USUAL_SLOPE * 0.4
    same = {1: 0.4, 2: 0.4, 3: 0.4}
    seen = fields(cosine=same, maxsim={1: usual, 2: usual + 0.1})
    assert relevance(seen, 1) == pytest.approx(0.4)
    assert relevance(seen, 2) == pytest.approx(0.4 + 0.1 * LATE_RELEVANCE)
    assert relevance(seen, 3) == pytest.approx(0.4)  # not compared
    assert relevance(fields(multilingual={1: 0.5}), 1) == pytest.approx(0.5 * MULTILINGUAL_SCALE)


def test_rrf_counts_ranks_only() -> None:
    worth = rrf()([1, 2, 3], fields(cosine=COSINE, bm25=BM25))
    first, second, third = (1 / (RRF_K + rank) for rank in (1, 2, 3))
    assert worth == pytest.approx({1: second + second, 2: third + first, 3: first})
    more = {key: 1.2 * score for key, score in COSINE.items()}
    assert rrf()([1, 2, 3], fields(cosine=more, bm25=BM25)) == worth


def test_no_evidence_is_no_rank() -> None:
    assert rrf()([1, 2], fields(cosine={1: -0.2}, bm25={2: 0.0})) == {1: 0.0, 2: 0.0}
