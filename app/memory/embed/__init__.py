"""Text to vectors. `EMBEDDERS` is the registry; any other name is a fastembed model or a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.memory.embed.bundled import load_bundled
from app.memory.embed.encoder import Encoder
from app.memory.embed.hashed import HashedModel
from app.memory.embed.model import Embedding, Model
from app.memory.embed.onnx import named
from app.memory.lexical import Lexical

if TYPE_CHECKING:
    from collections.abc import Callable

EMBEDDERS: Final[dict[str, Callable[[], Model]]] = {"bundled": load_bundled, "hash": HashedModel}


def load_model(name: str) -> Model:
    """The model of that name; raises `ConfigurationError`. Blocks for about a second."""
    return EMBEDDERS[name]() if name in EMBEDDERS else named(name)


__all__ = ["EMBEDDERS", "Embedding", "Encoder", "Lexical", "Model", "load_model"]
