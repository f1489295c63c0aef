"""Sentence encoders on ONNX Runtime, through fastembed.

The bundled one (app/models/minilm-int8, see its README) needs no network: it is loaded from the
package and checked against its hash.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from app.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from fastembed import TextEmbedding
    from numpy.typing import NDArray

BUNDLED: Final = Path(__file__).parents[2] / "models" / "minilm-int8"
BUNDLED_NAME: Final = "sentence-transformers/all-MiniLM-L6-v2"
BUNDLED_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
# One text at a time is what a call needs; more threads only take the cores from the calls.
THREADS: Final = 1
# Without ONNX Runtime's arena a large batch gives its memory back (hundreds of MB), and a single
# text takes no longer.
OPTIONS: Final[dict[str, Any]] = {"threads": THREADS, "enable_cpu_mem_arena": False}
# MiniLM's, from the data (FACTS): 95 % of true questions pass, 12 % of everyday prompts.
# Facts indexed in the first person stand a little higher, so a little is left of it.
BUNDLED_FLOOR: Final = 0.32


class OnnxModel:
    """A fastembed model under a name of its own."""

    def __init__(self, model: TextEmbedding, identity: str, dimension: int, floor: float) -> None:
        self._model = model
        self.identity = identity
        self.dimension = dimension
        self.floor = floor

    def embed(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        return [vector.astype("float32") for vector in self._model.embed(list(texts))]


def bundled() -> OnnxModel:
    """all-MiniLM-L6-v2, dynamic int8, 384 dimensions."""
    text_embedding = _fastembed()
    weights = BUNDLED / "model.onnx"
    if not weights.is_file() or _sha256(weights) != BUNDLED_SHA256:
        raise ConfigurationError(f"{weights} is missing or damaged: reinstall Remora")
    try:
        model = text_embedding(BUNDLED_NAME, specific_model_path=str(BUNDLED), **OPTIONS)
    except Exception as error:
        raise ConfigurationError(f"{BUNDLED} is incomplete or damaged: reinstall Remora") from error
    return OnnxModel(model, f"minilm-int8-{BUNDLED_SHA256[:8]}", 384, BUNDLED_FLOOR)


def named(name: str) -> OnnxModel:
    """Any model in fastembed's cache, or a folder that holds one."""
    text_embedding = _fastembed()
    folder = Path(name)
    if folder.is_dir():
        return _from_folder(folder)
    try:
        model = text_embedding(name, local_files_only=True, **OPTIONS)
    except Exception as error:
        raise ConfigurationError(
            f"REMORA_EMBEDDING: {name!r} is not in fastembed's cache ({type(error).__name__}). "
            "Nothing is fetched at a start; fetch it once where there is a network: "
            f"python -c \"from fastembed import TextEmbedding as T; T('{name}')\""
        ) from error
    return OnnxModel(model, name, model.embedding_size, BUNDLED_FLOOR)


def _from_folder(folder: Path) -> OnnxModel:
    text_embedding = _fastembed()
    from fastembed.common.model_description import ModelSource, PoolingType  # noqa: PLC0415

    try:
        weights = next(folder.glob("*.onnx"))
        dimension = int(json.loads((folder / "config.json").read_text())["hidden_size"])
        sha256 = _sha256(weights)
        if sha256 not in {known["model"] for known in text_embedding.list_supported_models()}:
            text_embedding.add_custom_model(
                model=sha256,
                pooling=PoolingType.MEAN,
                normalization=True,
                sources=ModelSource(url=folder.absolute().as_uri()),
                dim=dimension,
                model_file=weights.name,
            )
        model = text_embedding(sha256, specific_model_path=str(folder), **OPTIONS)
    except Exception as error:
        raise ConfigurationError(
            f"REMORA_EMBEDDING: {folder} holds no sentence encoder "
            f"({type(error).__name__}); it needs *.onnx, config.json and tokenizer.json"
        ) from error
    return OnnxModel(model, f"onnx-{sha256[:8]}", dimension, BUNDLED_FLOOR)


def _fastembed() -> type[TextEmbedding]:
    """Imported late: it takes a second, and not every Remora needs it."""
    # Its log (loguru) would only repeat, over many lines, what our one line says.
    os.environ.setdefault("LOGURU_AUTOINIT", "0")
    from fastembed import TextEmbedding  # noqa: PLC0415

    return TextEmbedding


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
