from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.memory.embed.hashed import HashedModel

MODEL = HashedModel()


@given(st.lists(st.text(), max_size=3))
def test_any_text_has_a_unit_vector_and_always_the_same(texts: list[str]) -> None:
    vectors = MODEL.embed(texts)
    assert len(vectors) == len(texts)
    for text, vector in zip(texts, vectors, strict=True):
        assert vector.shape == (MODEL.dimension,)
        assert vector.dtype == np.float32
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
        assert (vector == HashedModel().embed([text])[0]).all()


def test_shared_words_are_near() -> None:
    tea, more, other = MODEL.embed(["I like green tea", "green tea is what I like", "a fast boat"])
    assert tea @ more > MODEL.floor > abs(tea @ other)
