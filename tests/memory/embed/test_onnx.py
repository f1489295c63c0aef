from __future__ import annotations

import socket
from pathlib import Path

import numpy as np
import pytest

from app.errors import ConfigurationError
from app.memory.embed import onnx
from app.memory.embed.onnx import BUNDLED, OnnxModel, bundled, named
from app.memory.wording import first_person


@pytest.fixture(scope="module")
def model() -> OnnxModel:
    """The bundled model, loaded where any look at the network is an error."""
    with pytest.MonkeyPatch.context() as patch:

        def refuse(*_: object) -> None:
            raise AssertionError("the bundled model went to the network")

        patch.setattr(socket.socket, "connect", refuse)
        patch.setattr(socket, "getaddrinfo", refuse)
        return bundled()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the bundled model's folder."""
    for path in BUNDLED.iterdir():
        (tmp_path / path.name).symlink_to(path)
    return tmp_path


def replaced(path: Path, content: bytes) -> None:
    path.unlink()
    path.write_bytes(content)


def cosine(model: OnnxModel, one: str, other: str) -> float:
    first, second = model.embed([one, other])
    return float(first @ second)


@pytest.mark.requirement("M4")
def test_it_says_what_it_is(model: OnnxModel) -> None:
    assert model.identity == "minilm-int8-8199be6f"
    (vector,) = model.embed(["Hello"])
    assert vector.shape == (model.dimension,)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_texts_that_mean_the_same_are_near(model: OnnxModel) -> None:
    question = "Where do I live?"
    fact = first_person("The user lives in Lisbon.")
    assert cosine(model, question, fact) > model.floor
    assert cosine(model, question, fact) > cosine(model, question, "The user lives in Lisbon.")
    assert cosine(model, question, "I like green tea.") < model.floor
    assert cosine(model, question, question) == pytest.approx(1, abs=1e-5)


def test_a_batch_is_the_texts_one_by_one(model: OnnxModel) -> None:
    texts = ["tea", "", "\x00", "🦈", "我住在北京", "a longer text about boats " * 3]
    together = model.embed(texts)
    assert len(together) == len(texts)
    for text, vector in zip(texts, together, strict=True):
        assert float(model.embed([text])[0] @ vector) > 0.99
    assert model.embed([]) == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("model.onnx", b"damaged"),
        ("model.onnx", None),
        ("tokenizer.json", b"{"),
        ("tokenizer.json", None),
    ],
)
def test_a_damaged_copy_is_one_clear_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes | None
) -> None:
    if content is None:
        (folder / name).unlink()
    else:
        replaced(folder / name, content)
    monkeypatch.setattr(onnx, "BUNDLED", folder)
    with pytest.raises(ConfigurationError) as caught:
        bundled()
    (fault,) = caught.value.faults
    assert "damaged: reinstall Remora" in fault
    assert "\n" not in fault


def test_a_folder_of_ones_own(folder: Path, model: OnnxModel) -> None:
    for _ in range(2):
        own = named(str(folder))
        assert (own.identity, own.dimension) == ("onnx-8199be6f", 384)
    assert float(own.embed(["tea"])[0] @ model.embed(["tea"])[0]) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("name", ["model.onnx", "config.json", "tokenizer.json"])
def test_a_folder_without_a_model(folder: Path, name: str) -> None:
    replaced(folder / name, b"damaged")
    with pytest.raises(ConfigurationError, match="holds no sentence encoder") as caught:
        named(str(folder))
    assert "\n" not in str(caught.value)


def test_an_unknown_name() -> None:
    with pytest.raises(ConfigurationError, match="'no/such-model' is not in fastembed's cache"):
        named("no/such-model")
