from __future__ import annotations

from app.domain import Shape
from app.memory.stores.qdrant_schema import payload_indexes, vector_params
from app.memory.stores.schema import ACROSS, DENSE, KEYWORDS, TOKENS


def test_a_collection_has_the_vectors_that_its_model_makes() -> None:
    assert vector_params(Shape(256)).keys() == {DENSE}
    params = vector_params(Shape(384, 128, 512))
    sizes = {name: of.size for name, of in params.items()}
    assert sizes == {DENSE: 384, TOKENS: 128, ACROSS: 512}
    assert params[TOKENS].multivector_config is not None


def test_every_keyword_is_indexed() -> None:
    assert set(KEYWORDS) <= payload_indexes().keys()
