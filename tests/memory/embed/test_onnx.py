from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.errors import ConfigurationError
from app.memory.embed.bundled import MINILM, MODELS
from app.memory.embed.onnx import load, named, pooled


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of a bundled model's folder."""
    for path in (MODELS / MINILM).iterdir():
        (tmp_path / path.name).symlink_to(path)
    return tmp_path


def replaced(path: Path, content: bytes) -> None:
    path.unlink()
    path.write_bytes(content)


def test_a_folder_of_ones_own(folder: Path) -> None:
    output, mask = load(MODELS / MINILM)(["tea"])
    for _ in range(2):
        own = named(str(folder))
        assert (own.identity, own.shape.dense) == ("onnx-8199be6f", 384)
    (made,) = own.embed(["tea"])
    assert np.asarray(made.dense) == pytest.approx(pooled(output, mask)[0], abs=1e-5)
    assert made.tokens is None


def test_padding_is_not_pooled() -> None:
    output = np.array([[[1.0, 0.0], [0.0, 9.0]]], dtype=np.float32)
    assert pooled(output, np.array([[1, 0]])).tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize("name", ["model.onnx", "config.json", "tokenizer.json"])
def test_a_folder_without_a_model(folder: Path, name: str) -> None:
    replaced(folder / name, b"damaged")
    with pytest.raises(ConfigurationError, match="holds no sentence encoder") as caught:
        named(str(folder))
    assert "\n" not in str(caught.value)


def test_an_unknown_name() -> None:
    with pytest.raises(ConfigurationError, match="'no/such-model' is not in fastembed's cache"):
        named("no/such-model")
