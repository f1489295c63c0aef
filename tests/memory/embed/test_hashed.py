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
    for text, made in zip(texts, vectors, strict=True):
        vector, again = made.dense, HashedModel().embed([text])[0].dense
        assert vector is not None
        assert again is not None
        assert vector.shape == (MODEL.shape.dense,)
        assert vector.dtype == np.float32
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
        assert (vector == again).all()


def test_shared_words_are_near() -> None:
    texts = ["I like green tea", "green tea is what I like", "a fast boat"]
    tea, more, other = (np.asarray(made.dense) for made in MODEL.embed(texts))
    assert tea @ more > MODEL.floor > abs(tea @ other)
