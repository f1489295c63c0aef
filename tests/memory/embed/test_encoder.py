from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence

import pytest

from app.domain import Shape
from app.memory.embed import Embedding, Encoder, Lexical
from app.memory.embed import encoder as module
from app.memory.embed.hashed import HashedModel

LEXICAL = Lexical()


class Recorder(HashedModel):
    """Remembers its batches; waits at the gate before each; fails while `broken`."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.broken = False

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        self.batches.append(list(texts))
        assert self.gate.wait(10)
        if self.broken:
            raise RuntimeError("out of order")
        return super().embed(texts)

    @property
    def seen(self) -> list[str]:
        return [text for batch in self.batches for text in batch]


@pytest.fixture
def model() -> Recorder:
    return Recorder()


@pytest.fixture
async def encoder(model: Recorder) -> AsyncIterator[Encoder]:
    made = Encoder(model, LEXICAL)
    yield made
    model.gate.set()
    made.close()


async def held(model: Recorder, encoder: Encoder) -> asyncio.Task[object]:
    """A first text that keeps the model busy until the gate opens."""
    model.gate.clear()
    task: asyncio.Task[object] = asyncio.create_task(encoder.query("first"))
    while not model.batches:
        await asyncio.sleep(0.001)
    return task


async def test_a_text_has_both_vectors(encoder: Encoder) -> None:
    (document,) = await encoder.documents(["I like tea"])
    (expected,) = HashedModel().embed(["I like tea"])
    assert expected.dense is not None
    assert document.dense == pytest.approx(expected.dense.tolist())
    assert document.sparse == LEXICAL.document("I like tea")
    query = await encoder.query("I like tea")
    assert query.dense == document.dense
    assert query.sparse == LEXICAL.query("I like tea")
    assert encoder.words("I like tea") == query.sparse.indices
    assert await encoder.documents([]) == []


@pytest.mark.requirement("M4")
def test_the_identity_names_model_dimension_and_words(encoder: Encoder) -> None:
    assert encoder.identity == f"hash-1-256-{LEXICAL.version}"
    assert encoder.shape == Shape(256)


async def test_documents_are_embedded_as_their_user_would_say_them(
    encoder: Encoder, model: Recorder
) -> None:
    (vectors,) = await encoder.documents(["The user's dog is Rex."])
    assert model.seen == ["my dog is Rex."]
    assert vectors.sparse == LEXICAL.document("The user's dog is Rex.")


async def test_what_waits_together_shares_a_batch(encoder: Encoder, model: Recorder) -> None:
    first = await held(model, encoder)
    rest = asyncio.gather(*(encoder.query(f"text {number}") for number in range(module.BATCH + 2)))
    await asyncio.sleep(0)
    model.gate.set()
    await asyncio.gather(first, rest)
    assert [len(batch) for batch in model.batches] == [1, module.BATCH, 2]


async def test_a_long_text_has_no_company(encoder: Encoder, model: Recorder) -> None:
    first = await held(model, encoder)
    texts = ["a", "b", "long " * 1000, "c", "d"]
    rest = asyncio.create_task(encoder.documents(texts))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    model.gate.set()
    await asyncio.gather(first, rest)
    assert [len(batch) for batch in model.batches[1:]] == [2, 1, 2]


async def test_a_call_goes_before_an_import(encoder: Encoder, model: Recorder) -> None:
    first = await held(model, encoder)
    documents = [f"document {number}" for number in range(3 * module.BATCH)]
    rest = asyncio.create_task(encoder.documents(documents))
    await asyncio.sleep(0.001)
    query = asyncio.create_task(encoder.query("urgent"))
    await asyncio.sleep(0.001)
    model.gate.set()
    await asyncio.gather(first, rest, query)
    assert model.batches[1][0] == "urgent"
    assert len(model.seen) == len(documents) + 2


async def test_the_same_text_is_embedded_once(encoder: Encoder, model: Recorder) -> None:
    vectors = await asyncio.gather(*(encoder.query("tea") for _ in range(5)))
    vectors += [await encoder.query("tea"), (await encoder.documents(["tea"]))[0]]
    assert {v.dense for v in vectors} == {vectors[0].dense}
    assert model.seen == ["tea"]


async def test_the_cache_keeps_what_was_used_last(
    encoder: Encoder, model: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CACHED", 2)
    for text in ("a", "b", "a", "c", "a", "b"):
        await encoder.query(text)
    assert model.seen == ["a", "b", "c", "b"]


async def test_one_who_gives_up_takes_nothing_from_the_others(
    encoder: Encoder, model: Recorder
) -> None:
    first = await held(model, encoder)
    waiting = [asyncio.create_task(encoder.query("tea")) for _ in range(3)]
    await asyncio.sleep(0.001)
    first.cancel()
    waiting[0].cancel()
    await asyncio.sleep(0.001)
    model.gate.set()
    done = await asyncio.gather(*waiting, first, return_exceptions=True)
    assert [isinstance(one, asyncio.CancelledError) for one in done] == [True, False, False, True]
    assert model.seen == ["first", "tea"]
    await encoder.query("first")
    assert model.seen == ["first", "tea"]


async def test_a_failure_reaches_all_who_wait_and_the_next_call_works(
    encoder: Encoder, model: Recorder
) -> None:
    first = await held(model, encoder)
    waiting = [asyncio.create_task(encoder.query(text)) for text in ("a", "b", "a")]
    gone = asyncio.create_task(encoder.query("nobody waits for this one"))
    await asyncio.sleep(0.001)
    gone.cancel()
    model.broken = True
    model.gate.set()
    done = await asyncio.gather(first, *waiting, return_exceptions=True)
    assert [str(one) for one in done] == ["out of order"] * 4
    model.broken = False
    assert (await encoder.query("a")).dense == (await encoder.documents(["a"]))[0].dense
    assert not encoder._futures


async def test_a_model_that_returns_too_little_is_a_failure(
    encoder: Encoder, model: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "embed", lambda _: [])
    with pytest.raises(ValueError, match="shorter"):
        await encoder.query("tea")


async def test_a_panic_of_the_model_is_a_failure(
    encoder: Encoder, model: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    class PanicException(BaseException):
        """What a panic in Rust looks like from Python."""

    def panic(_: object) -> None:
        raise PanicException

    monkeypatch.setattr(model, "embed", panic)
    with pytest.raises(RuntimeError, match="PanicException"):
        await encoder.query("tea")


def test_event_loops_come_and_go(model: Recorder) -> None:
    encoder = Encoder(model, LEXICAL)

    async def abandoned() -> None:
        await held(model, encoder)  # and this loop ends while the model is at work

    asyncio.run(abandoned())
    model.gate.set()
    vectors = [asyncio.run(encoder.query("first")) for _ in range(2)]
    assert vectors[0] == vectors[1]
    assert model.seen == ["first"]
    encoder.close()


async def test_closing_answers_who_waits_and_refuses_the_rest(
    encoder: Encoder, model: Recorder
) -> None:
    first = await held(model, encoder)
    waiting = asyncio.create_task(encoder.query("tea"))
    await asyncio.sleep(0.001)
    encoder.close()
    model.gate.set()
    await asyncio.gather(first, waiting)
    with pytest.raises(RuntimeError):
        await encoder.query("late")
    assert await encoder.query("tea") == waiting.result()  # known already


@pytest.mark.parametrize("text", ["", "\x00", "\ud83d", "\ud83e\udd88", "x" * 100_000, "  tea "])
async def test_any_text_can_be_embedded(encoder: Encoder, model: Recorder, text: str) -> None:
    assert len((await encoder.query(text)).dense) == 256
    assert len((await encoder.documents([text]))[0].dense) == 256
    assert len(encoder.words(text)) <= 1
    assert all(len(seen.encode()) <= 16384 for seen in model.seen)
