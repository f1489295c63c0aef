"""Sentence encoders on ONNX Runtime, through fastembed."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from app.domain import Shape
from app.errors import ConfigurationError
from app.memory.embed.model import Embedding

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fastembed import TextEmbedding
    from fastembed.text.onnx_text_model import OnnxTextModel
    from numpy.typing import NDArray

    Runner = Callable[[Sequence[str]], tuple[NDArray[np.float32], NDArray[np.int64]]]

# One text at a time is what a call needs; more threads only take the cores from the calls.
THREADS: Final = 1
# Without ONNX Runtime's arena a large batch gives its memory back (hundreds of MB), and a single
# text takes no longer.
OPTIONS: Final[dict[str, Any]] = {"threads": THREADS, "enable_cpu_mem_arena": False}
# Of a model that says nothing of its own: MiniLM's.
USUAL_FLOOR: Final = 0.32


class OnnxModel:
    """A fastembed model under a name of its own."""

    floor = USUAL_FLOOR

    def __init__(self, model: TextEmbedding, identity: str, dimension: int) -> None:
        self._model = model
        self.identity = identity
        self.shape = Shape(dimension)

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        return [Embedding(vector.astype("float32")) for vector in self._model.embed(list(texts))]


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
    return OnnxModel(model, name, model.embedding_size)


def load(folder: Path) -> Runner:
    """What makes a model's first output and attention mask of texts; raises if it cannot."""
    model = cast("OnnxTextModel[Any]", _open(folder).model)

    def run(texts: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        made = model.onnx_embed(list(texts))
        return made.model_output.astype(np.float32), np.asarray(made.attention_mask)

    return run


def pooled(output: NDArray[np.float32], mask: NDArray[np.int64]) -> NDArray[np.float32]:
    """The mean of each text's token vectors, (b, t, d) to (b, d), of unit length."""
    kept = mask[:, :, None].astype(np.float32)
    mean = (output * kept).sum(axis=1) / kept.sum(axis=1)
    unit: NDArray[np.float32] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
    return unit


def sha256(path: Path) -> str:
    """Of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _from_folder(folder: Path) -> OnnxModel:
    try:
        model = _open(folder)
    except Exception as error:
        raise ConfigurationError(
            f"REMORA_EMBEDDING: {folder} holds no sentence encoder "
            f"({type(error).__name__}); it needs *.onnx, config.json and tokenizer.json"
        ) from error
    return OnnxModel(model, f"onnx-{model.model_name[:8]}", model.embedding_size)


def _open(folder: Path) -> TextEmbedding:
    """The model of a folder, under its weights' hash as its name."""
    text_embedding = _fastembed()
    from fastembed.common.model_description import ModelSource, PoolingType  # noqa: PLC0415

    weights = next(folder.glob("*.onnx"))
    dimension = int(json.loads((folder / "config.json").read_text())["hidden_size"])
    name = sha256(weights)
    if name not in {known["model"] for known in text_embedding.list_supported_models()}:
        text_embedding.add_custom_model(
            model=name,
            pooling=PoolingType.MEAN,
            normalization=True,
            sources=ModelSource(url=folder.absolute().as_uri()),
            dim=dimension,
            model_file=weights.name,
        )
    return text_embedding(name, specific_model_path=str(folder), **OPTIONS)


def _fastembed() -> type[TextEmbedding]:
    """Imported late: it takes a second, and not every Remora needs it."""
    # Its log (loguru) would only repeat, over many lines, what our one line says.
    os.environ.setdefault("LOGURU_AUTOINIT", "0")
    from fastembed import TextEmbedding  # noqa: PLC0415

    return TextEmbedding
