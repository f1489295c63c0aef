from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.memory.extract.wording import plain, single_spaced, verbatim


def test_a_cut_is_verbatim_and_read_plainly() -> None:
    said = plain("I’m\nAna ")
    assert (said.cut(0).raw, said.cut(0).words) == ("I’m\nAna", "I'm Ana")
    assert said.cut(3).raw == "Ana"
    assert said.cut(50).raw == ""


@given(st.text(), st.integers(0, 40), st.integers(0, 40))
def test_words_and_raw_stay_in_step(text: str, start: int, end: int) -> None:
    cut = plain(text).cut(start, end)
    assert len(cut.raw) == len(cut.words)
    assert cut.raw in text


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [("a b", "x a b", "a b"), ("a b", "a\nb!", "a\nb"), ("a c", "a b c", ""), ("", "a", "")],
)
def test_a_quote_is_what_stands_there(quote: str, text: str, found: str) -> None:
    assert verbatim(quote, text) == found


@pytest.mark.parametrize(("text", "spaced"), [(" a  b\tc ", "a b c"), ("", "")])
def test_single_spaced(text: str, spaced: str) -> None:
    assert single_spaced(text) == spaced
