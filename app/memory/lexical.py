"""Sparse BM25 vectors: term weights only, the store multiplies in the IDF.

Qdrant Edge's encoder, for every store: it needs no model hub, and its multilingual tokenizer splits
Chinese, Japanese and Thai where others keep a whole run as one word.
"""

from __future__ import annotations

from typing import Final

import qdrant_edge as edge

from app.domain import Sparse

# The text of a memory is a sentence or two; BM25's length normalisation is relative to this.
AVERAGE_TOKENS: Final = 12.0


class Lexical:
    """Text to `Sparse`; indices are hashes of stemmed words without stop words."""

    version: Final = "bm25-1"

    def __init__(self) -> None:
        config = edge.Bm25Config(
            tokenizer=edge.TokenizerType.Multilingual, language="english", avg_len=AVERAGE_TOKENS
        )
        self._model = edge.Bm25(config)

    def document(self, text: str) -> Sparse:
        """Weights of a text to be found."""
        return _sparse(self._model.embed_document(text))

    def query(self, text: str) -> Sparse:
        """Weights of a text to search with."""
        return _sparse(self._model.embed_query(text))


def _sparse(vector: edge.SparseVector) -> Sparse:
    return Sparse(tuple(vector.indices), tuple(vector.values))
