from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain import Candidate
from app.memory.gates.budget import fit
from app.memory.render import block
from app.memory.tokens import token_counter
from tests.build import a_memory, later

count = token_counter()
contents = st.text(min_size=1, max_size=200).filter(lambda text: text.strip() != "")


def candidates(*texts: str) -> list[Candidate]:
    return [Candidate(a_memory(text), {}) for text in texts]


@pytest.mark.requirement("M20")
@given(st.lists(contents, max_size=8), st.integers(32, 200))
def test_the_budget_is_hard(texts: list[str], budget: int) -> None:
    admitted = fit(candidates(*texts), 20, budget, count)
    rendered = block(admitted, budget, count)
    if rendered is not None:
        assert rendered.tokens == count(rendered.text) <= budget


@pytest.mark.requirement("M20")
def test_one_huge_memory_is_shortened_and_the_next_still_comes() -> None:
    huge = "The user wrote a long story. " + "It goes on and on. " * 2_000
    admitted = fit(candidates(huge, "The user likes tea."), 20, 200, count)
    assert len(admitted) >= 1
    assert admitted[0].text.startswith("The user wrote a long story.")
    assert len(admitted[0].text) < 2_000
    assert block(admitted, 200, count) is not None
    first = fit(candidates("The user likes tea.", huge), 20, 120, count)
    assert first[0].text == "The user likes tea."


@pytest.mark.requirement("M20")
def test_what_does_not_fit_is_passed_over_for_the_next() -> None:
    medium = "The user " + "really " * 30 + "likes tea."
    admitted = fit(candidates(medium, "The user likes tea."), 20, 45, count)
    assert [item.text for item in admitted] == ["The user likes tea."]


def test_a_cut_ends_with_a_sentence_or_a_word() -> None:
    sentences = "The first sentence is here. " * 30
    (cut,) = fit(candidates(sentences), 20, 80, count)
    assert cut.text.endswith("here.")
    words = "word " * 500
    (cut,) = fit(candidates(words), 20, 80, count)
    assert cut.text.endswith("word…")


def test_no_more_than_the_limit() -> None:
    assert len(fit(candidates(*"abcdef"), 3, 500, count)) == 3


def test_memories_of_a_day_stand_together() -> None:
    texts = [("a", 0), ("b", 90_000), ("c", 10)]
    made = [Candidate(a_memory(text, at=later(at)), {}) for text, at in texts]
    assert [item.text for item in fit(made, 20, 500, count)] == ["a", "c", "b"]
