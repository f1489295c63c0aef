"""`app.ports.Embed` over a model that only knows how to embed a list of texts.

The model runs on a thread of its own (ONNX Runtime releases the GIL); short texts that wait at the
same moment share a batch; what was embedded is cached under a hash of its text.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from app.domain import MAX_CONTENT_BYTES, Vectors, clean_text
from app.memory.wording import first_person, spoken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.domain import Sparse
    from app.memory.embed.model import Array, Embedding, Model
    from app.memory.lexical import Lexical

    Tokens = tuple[tuple[float, ...], ...]

# A batch is padded to its longest text. Short texts gain from company (1.6 ms each instead of 4);
# eight of 1,500 characters take 740 ms together and 440 ms one by one.
BATCH: Final = 16
BATCH_CHARS: Final = 2000
CACHED: Final = 1024


class Encoder:
    """Batching, caching, dense and sparse together. Bound to no event loop."""

    def __init__(self, model: Model, lexical: Lexical) -> None:
        self._model = model
        self._lexical = lexical
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="embed")
        self._lock = threading.Lock()
        self._cache: OrderedDict[bytes, Embedding] = OrderedDict()
        self._waiting: OrderedDict[bytes, str] = OrderedDict()
        self._futures: dict[bytes, Future[Embedding]] = {}
        self.shape = model.shape
        self.identity = f"{model.identity}-{model.shape.dense}-{lexical.version}"

    async def documents(
        self, texts: Sequence[str], own: Sequence[str] | None = None
    ) -> list[Vectors]:
        clean = [_bounded(text) for text in texts]
        said = [_bounded(text) for text in own] if own else [spoken(text) for text in clean]
        made = [first_person(text) for text in (*clean, *said)]
        found = await asyncio.gather(*(self._embedding(text) for text in made))
        pairs = zip(clean, found[: len(clean)], found[len(clean) :], strict=True)
        return [
            _vectors(whole, self._lexical.document(text), _listed(part.tokens))
            for text, whole, part in pairs
        ]

    async def query(self, text: str) -> Vectors:
        clean = _bounded(text)
        found = await self._embedding(clean, urgent=True)
        return _vectors(found, self._lexical.query(clean), _weighed(found))

    def words(self, text: str) -> Sequence[int]:
        return self._lexical.query(_bounded(text)).indices

    def close(self) -> None:
        """Let the thread end, once nothing waits any more."""
        self._thread.shutdown(wait=False)

    async def _embedding(self, text: str, *, urgent: bool = False) -> Embedding:
        key = hashlib.sha256(text.encode()).digest()
        with self._lock:
            if (known := self._cache.get(key)) is not None:
                self._cache.move_to_end(key)
                return known
            future = self._futures.get(key)
            if future is None:
                self._thread.submit(self._embed_waiting)
                future = self._futures[key] = Future()
                self._waiting[key] = text
            if urgent and key in self._waiting:  # a call is waiting; an import is not
                self._waiting.move_to_end(key, last=False)
        # One caller that gives up must not take the vector from the others who wait for it.
        return await asyncio.shield(asyncio.wrap_future(future))

    def _embed_waiting(self) -> None:
        """On the thread: one batch, if an earlier one has not taken all that waits."""
        batch = self._next_batch()
        if not batch:
            return
        outcome: dict[bytes, Embedding] | Exception
        try:
            outcome = dict(zip(batch, self._model.embed(list(batch.values())), strict=True))
        except BaseException as error:  # noqa: BLE001 raised again where the vector is awaited
            # A panic in Rust (the tokenizer) is no Exception; nobody up there expects that.
            outcome = error if isinstance(error, Exception) else RuntimeError(type(error).__name__)
        self._settle(batch, outcome)

    def _next_batch(self) -> dict[bytes, str]:
        batch: dict[bytes, str] = {}
        longest = 0
        with self._lock:
            while self._waiting and len(batch) < BATCH:
                key, text = next(iter(self._waiting.items()))
                longest = max(longest, len(text))
                if batch and longest * (len(batch) + 1) > BATCH_CHARS:
                    break
                batch[key] = self._waiting.pop(key)
        return batch

    def _settle(self, batch: dict[bytes, str], outcome: dict[bytes, Embedding] | Exception) -> None:
        with self._lock:
            futures = {key: self._futures.pop(key) for key in batch}
            if isinstance(outcome, dict):
                self._cache |= outcome
            while len(self._cache) > CACHED:
                self._cache.popitem(last=False)
        for key, future in futures.items():
            if isinstance(outcome, dict):
                future.set_result(outcome[key])
            else:
                future.set_exception(outcome)


def _bounded(text: str) -> str:
    """A text that can be encoded, no longer than a memory: the rest would not be read anyway."""
    return clean_text(text[:MAX_CONTENT_BYTES])


def _vectors(made: Embedding, sparse: Sparse, tokens: Tokens) -> Vectors:
    return Vectors(_flat(made.dense), sparse, tokens, _flat(made.multilingual))


def _weighed(made: Embedding) -> Tokens:
    if made.tokens is None or made.weights is None:
        return ()
    return _listed(made.tokens * made.weights[:, None])


def _listed(tokens: Array | None) -> Tokens:
    return () if tokens is None else tuple(map(tuple, tokens.tolist()))


def _flat(vector: Array | None) -> tuple[float, ...]:
    return () if vector is None else tuple(vector.tolist())
