"""What a collection on a Qdrant server is made of. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qdrant_client import models

from app.memory.stores.schema import ACROSS, DENSE, HELD, INTEGERS, KEYWORDS, TENANTS, TOKENS

if TYPE_CHECKING:
    from app.domain import Shape


def vector_params(shape: Shape) -> dict[str, models.VectorParams]:
    """The dense vectors of a shape, by name."""
    cosine = models.Distance.COSINE
    params = {DENSE: models.VectorParams(size=shape.dense, distance=cosine)}
    if shape.multilingual:
        params[ACROSS] = models.VectorParams(size=shape.multilingual, distance=cosine)
    if shape.tokens:
        params[TOKENS] = models.VectorParams(
            size=shape.tokens,
            distance=models.Distance.DOT,  # a query's tokens are as long as they weigh
            multivector_config=models.MultiVectorConfig(
                comparator=models.MultiVectorComparator.MAX_SIM
            ),
            datatype=models.Datatype.FLOAT16,
            on_disk=True,  # only looked at for what another search found
            hnsw_config=models.HnswConfigDiff(m=0, payload_m=0),
        )
    return params


def payload_indexes() -> dict[str, Any]:
    """Every field that a condition can name, and the kind of its index."""
    tenant = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
    return {
        **dict.fromkeys(TENANTS, tenant),
        **dict.fromkeys(KEYWORDS, models.PayloadSchemaType.KEYWORD),
        **dict.fromkeys((*INTEGERS, *HELD), models.PayloadSchemaType.INTEGER),
    }
