from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.memory.lexical import Lexical

LEXICAL = Lexical()


def common(one: str, other: str) -> int:
    """How many words of a query a document has."""
    return len({*LEXICAL.query(one).indices} & {*LEXICAL.document(other).indices})


@pytest.mark.requirement("M15")
@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("running", "I run every day"),
        ("TEA", "I like tea."),
        ("500", "I spent $500"),
        ("2026", "on 2026-01-05"),
        ("3.14", "it is 3.14"),
        ("10k", "My budget is 10k."),
        ("GPT4", "gpt4 it was"),
        ("10.0.0.1", "the server is at 10.0.0.1:80"),
        ("café", "The CAFÉ"),
        ("москва", "Москва"),
        ("北京", "我住在北京"),
        ("東京はどこですか", "私は東京に住んでいます"),
        ("서울", "저는 서울 사람"),
    ],
)
def test_words_are_found(query: str, document: str) -> None:
    assert common(query, document) >= 1


def test_stop_words_weigh_nothing() -> None:
    assert LEXICAL.query("what is the").indices == ()
    assert LEXICAL.document("").indices == ()


def test_a_query_weighs_every_word_alike_and_a_document_by_frequency_and_length() -> None:
    assert set(LEXICAL.query("green tea tea").values) == {1.0}
    weights = dict(zip(*pair(LEXICAL.document("green tea tea")), strict=True))
    (green,) = LEXICAL.query("green").indices
    (tea,) = LEXICAL.query("tea").indices
    assert weights[tea] > weights[green]
    longer = dict(zip(*pair(LEXICAL.document("green tea " + "other word " * 20)), strict=True))
    assert longer[green] < weights[green]


def pair(sparse: object) -> tuple[tuple[int, ...], tuple[float, ...]]:
    return sparse.indices, sparse.values  # type: ignore[attr-defined]


@given(st.text())
def test_any_text_has_a_vector(text: str) -> None:
    for sparse in (LEXICAL.document(text), LEXICAL.query(text)):
        assert len(set(sparse.indices)) == len(sparse.indices) == len(sparse.values)
        assert all(weight > 0 for weight in sparse.values)
    assert {*LEXICAL.query(text).indices} == {*LEXICAL.document(text).indices}
