from __future__ import annotations

import numpy as np

from app.memory.embed import Embedding


def test_an_embedding_shows_nothing_of_a_text() -> None:
    made = Embedding(np.ones(3, dtype=np.float32), tokens=np.ones((1, 2), dtype=np.float32))
    assert repr(made) == "Embedding()"
    assert made.multilingual is None
