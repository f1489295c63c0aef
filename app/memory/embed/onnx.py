"""Sentence encoders on ONNX Runtime, through fastembed.

The bundled one (app/models/minilm-int8, see its README) needs no network: it is loaded from the
package and checked against its hash.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

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
    from fastembed import TextEmbedding  # noqa: PLC0415 a second of import that not all need

    weights = BUNDLED / "model.onnx"
    if not weights.is_file() or _sha256(weights) != BUNDLED_SHA256:
        raise ConfigurationError(f"{weights} is missing or damaged: reinstall Remora")
    try:
        model = TextEmbedding(BUNDLED_NAME, specific_model_path=str(BUNDLED), threads=THREADS)
    except Exception as error:
        raise ConfigurationError(f"{BUNDLED} is incomplete or damaged: reinstall Remora") from error
    return OnnxModel(model, f"minilm-int8-{BUNDLED_SHA256[:8]}", 384, BUNDLED_FLOOR)


def named(name: str) -> OnnxModel:
    """Any model that fastembed knows, from its cache or its hub; or a folder that holds one."""
    from fastembed import TextEmbedding  # noqa: PLC0415

    folder = Path(name)
    if folder.is_dir():
        return _from_folder(folder)
    try:
        model = TextEmbedding(name, threads=THREADS)
    except Exception as error:
        raise ConfigurationError(
            f"REMORA_EMBEDDING: {name!r} cannot be loaded ({type(error).__name__}); "
            "without a network use `bundled` or a folder with the model's files"
        ) from error
    return OnnxModel(model, name, model.embedding_size, BUNDLED_FLOOR)


def _from_folder(folder: Path) -> OnnxModel:
    from fastembed import TextEmbedding  # noqa: PLC0415
    from fastembed.common.model_description import ModelSource, PoolingType  # noqa: PLC0415

    try:
        weights = next(folder.glob("*.onnx"))
        dimension = int(json.loads((folder / "config.json").read_text())["hidden_size"])
        sha256 = _sha256(weights)
        if sha256 not in {known["model"] for known in TextEmbedding.list_supported_models()}:
            TextEmbedding.add_custom_model(
                model=sha256,
                pooling=PoolingType.MEAN,
                normalization=True,
                sources=ModelSource(url=folder.absolute().as_uri()),
                dim=dimension,
                model_file=weights.name,
            )
        model = TextEmbedding(sha256, specific_model_path=str(folder), threads=THREADS)
    except Exception as error:
        raise ConfigurationError(
            f"REMORA_EMBEDDING: {folder} holds no sentence encoder "
            f"({type(error).__name__}); it needs *.onnx, config.json and tokenizer.json"
        ) from error
    return OnnxModel(model, f"onnx-{sha256[:8]}", dimension, BUNDLED_FLOOR)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
