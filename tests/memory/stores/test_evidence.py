from __future__ import annotations

from uuid import uuid4

import pytest

from app.memory.stores.evidence import Evidence

A, B, C = (uuid4() for _ in range(3))


@pytest.mark.requirement("M15")
def test_the_most_promising_are_kept_by_what_they_may_score_at_most() -> None:
    found = Evidence([(A, 0.9), (B, 0.8)], [(C, 5.0), (A, 4.0)])
    found.keep_most_promising(2, depth=2)  # B may have up to 4.0, C up to 0.8
    assert found.scores().keys() == {A, C}
    assert found.one_sided() == [C]


@pytest.mark.requirement("M15")
def test_a_search_that_was_exhausted_leaves_no_hope() -> None:
    found = Evidence([(A, 0.9), (B, 0.8)], [(C, 5.0)])
    found.keep_most_promising(1, depth=2)  # neither A nor B has a word in common
    assert list(found.scores()) == [C]


def test_scores_that_come_later_complete_the_picture() -> None:
    found = Evidence([(A, 0.9)], [(B, 2.0)])
    found.add([(B, 0.1)], [])
    assert found.one_sided() == [A]
    assert found.scores()[B] == {"cosine": 0.1, "bm25": 2.0, "fused": pytest.approx(0.55)}
    assert found.scores()[A]["bm25"] == 0.0
