"""Sparse BM25 vectors: term weights only, the store multiplies in the IDF.

Qdrant Edge's encoder, for every store: it needs no model hub, and its multilingual tokenizer splits
Chinese, Japanese and Thai where others keep a whole run as one word. The first Chinese and the
first Japanese text load their dictionaries: once, a tenth of a second, 50 MB.
"""

from __future__ import annotations

import re
from typing import Final

import qdrant_edge as edge

from app.domain import Sparse

# The text of a memory is a sentence or two; BM25's length normalisation is relative to this.
AVERAGE_TOKENS: Final = 12.0
# The multilingual tokenizer drops a word that is only digits; with a letter before it, it stays.
_NUMBER: Final = re.compile(r"(?<!\w)(?=\d)")


class Lexical:
    """Text to `Sparse`; indices are hashes of stemmed words without stop words."""

    version: Final = "bm25-2"

    def __init__(self) -> None:
        config = edge.Bm25Config(
            tokenizer=edge.TokenizerType.Multilingual, language="english", avg_len=AVERAGE_TOKENS
        )
        self._model = edge.Bm25(config)

    def document(self, text: str) -> Sparse:
        """Weights of a text to be found."""
        return _sparse(self._model.embed_document(_NUMBER.sub(" n", text)))

    def query(self, text: str) -> Sparse:
        """Weights of a text to search with."""
        return _sparse(self._model.embed_query(_NUMBER.sub(" n", text)))


def _sparse(vector: edge.SparseVector) -> Sparse:
    return Sparse(tuple(vector.indices), tuple(vector.values))
