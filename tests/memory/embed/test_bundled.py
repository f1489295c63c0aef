from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from app.errors import ConfigurationError
from app.memory.embed import Encoder, Lexical
from app.memory.embed.bundled import ACROSS, MINILM, MODELS, BundledModel, load_bundled
from app.memory.wording import first_person


@pytest.fixture(scope="module")
def model() -> BundledModel:
    """The bundled model, loaded where any look at the network is an error."""
    with pytest.MonkeyPatch.context() as patch:

        def refuse(*_: object) -> None:
            raise AssertionError("the bundled model went to the network")

        patch.setattr(socket.socket, "connect", refuse)
        patch.setattr(socket, "getaddrinfo", refuse)
        return load_bundled()


@pytest.fixture
def encoder(model: BundledModel) -> Iterator[Encoder]:
    made = Encoder(model, Lexical())
    yield made
    made.close()


def cosine(model: BundledModel, one: str, other: str) -> float:
    first, second = (np.asarray(made.dense) for made in model.embed([one, other]))
    return float(first @ second)


@pytest.mark.requirement("M4")
def test_it_says_what_it_is(model: BundledModel) -> None:
    assert model.identity == "minilm-int8-8199be6f-use-multilingual-v3-171d7b4d"
    (made,) = model.embed(["Hello"])
    for vector, size in ((made.dense, 384), (made.multilingual, 512)):
        assert vector is not None
        assert vector.shape == (size,)
        assert vector.dtype == np.float32
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    assert (model.shape.dense, model.shape.tokens, model.shape.multilingual) == (384, 128, 512)


def test_texts_that_mean_the_same_are_near(model: BundledModel) -> None:
    question = "Where do I live?"
    fact = first_person("The user lives in Lisbon.")
    assert cosine(model, question, fact) > model.floor
    assert cosine(model, question, fact) > cosine(model, question, "The user lives in Lisbon.")
    assert cosine(model, question, "I like green tea.") < model.floor
    assert cosine(model, question, question) == pytest.approx(1, abs=1e-5)


def test_word_pieces_are_unit_vectors_with_weights(model: BundledModel) -> None:
    (made,) = model.embed(["I like the green tea"])
    assert made.tokens is not None
    assert made.weights is not None
    assert made.tokens.shape == (5, 128)
    assert np.linalg.norm(made.tokens, axis=1) == pytest.approx(np.ones(5), abs=1e-5)
    assert made.weights.sum() == pytest.approx(1)
    assert made.weights[4] > made.weights[2]  # "tea" says more than "the"


@pytest.mark.requirement("M15")
@pytest.mark.parametrize(
    ("fact", "other"),
    [
        ("Der Hund des Nutzers heißt Luna.", "Der Nutzer mag grünen Tee."),
        ("El perro del usuario se llama Luna.", "Al usuario le gusta el té verde."),
        ("用户的狗叫露娜。", "用户喜欢绿茶。"),
        ("ユーザーの犬の名前はルナです。", "ユーザーは緑茶が好きです。"),
    ],
)
def test_meaning_crosses_languages(model: BundledModel, fact: str, other: str) -> None:
    question, one, two = model.embed(["What is my dog called?", fact, other])
    assert one.dense is None  # MiniLM would take it for nonsense
    assert one.tokens is None
    asked = np.asarray(question.multilingual)
    assert asked @ np.asarray(one.multilingual) > 0.2 + asked @ np.asarray(two.multilingual)


def test_a_batch_is_the_texts_one_by_one(model: BundledModel) -> None:
    texts = ["tea", "", "\x00", "🦈", "我住在北京", "a longer text about boats " * 3]
    together = model.embed(texts)
    assert len(together) == len(texts)
    for text, made in zip(texts, together, strict=True):
        (alone,) = model.embed([text])
        assert (alone.dense is None) is (made.dense is None)
        for one, other in ((alone.dense, made.dense), (alone.multilingual, made.multilingual)):
            if one is not None and other is not None:
                assert float(one @ other) > 0.99
    assert model.embed([]) == []


async def test_what_an_excerpt_answers_is_context(encoder: Encoder) -> None:
    said = "The user said: we tried the green tea. The assistant answered: It is bitter, try honey."
    (whole,), (part,) = (
        await encoder.documents([said]),
        await encoder.documents(["we tried the green tea."]),
    )
    assert whole.tokens == part.tokens
    assert whole.dense != part.dense


async def test_a_query_s_word_pieces_are_as_long_as_they_weigh(encoder: Encoder) -> None:
    lengths = np.linalg.norm(np.asarray((await encoder.query("my green tea")).tokens), axis=1)
    assert lengths.sum() == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (f"{MINILM}/model.onnx", b"damaged"),
        (f"{MINILM}/model.onnx", None),
        (f"{MINILM}/tokens.npz", b"damaged"),
        (f"{MINILM}/tokenizer.json", b"{"),
        (f"{MINILM}/tokenizer.json", None),
        (f"{ACROSS}/model.onnx_data", b"damaged"),
        (f"{ACROSS}/model.onnx", None),
        (f"{ACROSS}/tokenizer.json", b"{"),
    ],
)
def test_a_damaged_copy_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes | None
) -> None:
    shutil.copytree(MODELS, tmp_path / "models", copy_function=lambda a, b: Path(b).symlink_to(a))
    path = tmp_path / "models" / name
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setattr("app.memory.embed.bundled.MODELS", tmp_path / "models")
    with pytest.raises(ConfigurationError) as caught:
        load_bundled()
    (fault,) = caught.value.faults
    assert "damaged: reinstall Remora" in fault
    assert "\n" not in fault
