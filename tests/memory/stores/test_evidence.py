from __future__ import annotations

from uuid import uuid4

import pytest

from app.memory.fusion import MULTILINGUAL_SCALE, weighted
from app.memory.stores.evidence import Evidence

A, B, C = (uuid4() for _ in range(3))


@pytest.mark.requirement("M15")
def test_what_several_searches_say_is_one_picture() -> None:
    found = Evidence(weighted())
    found.add({"cosine": [(A, 0.9)], "bm25": [(B, 2.0)]})
    found.add({"cosine": [(B, 0.1)], "bm25": []})
    assert set(found.ids()) == {A, B}
    best = found.best(5)
    assert best[B] == {
        "cosine": 0.1, "bm25": 2.0, "relevance": 0.1, "fused": pytest.approx(0.55)
    }  # fmt: skip
    assert best[A]["bm25"] == 0.0
    assert list(best) == [B, A]
    assert list(found.best(1)) == [B]


@pytest.mark.requirement("M15")
def test_a_text_of_another_language_is_as_near_as_its_own_encoder_says() -> None:
    found = Evidence(weighted())
    found.add({"multilingual": [(A, 0.4), (B, 0.9), (C, 0.1)], "cosine": [(C, 0.6)]})
    best = found.best(3)
    assert best[A]["cosine"] == pytest.approx(0.4 * MULTILINGUAL_SCALE)
    assert best[A]["multilingual"] == 0.4
    assert best[B]["cosine"] == 1.0
    assert best[C]["relevance"] == 0.6
    assert list(best) == [B, C, A]
