"""`app.ports.Embed` over a model that only knows how to embed a list of texts.

The model runs on a thread of its own (ONNX Runtime releases the GIL); texts that wait at the same
moment share a batch; what was embedded is cached under a hash of its text.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, Protocol

from app.domain import Vectors
from app.memory.wording import first_person

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from app.memory.lexical import Lexical

    Dense = NDArray[np.float32]

BATCH: Final = 32
CACHED: Final = 4096


class Model(Protocol):
    """A sentence encoder. `identity` names weights and version; `floor` is its relevance floor.

    The floor is the cosine below which a memory has nothing to do with a question; it belongs to
    the model.
    """

    identity: str
    dimension: int
    floor: float

    def embed(self, texts: Sequence[str]) -> list[Dense]:
        """Unit vectors, one for each text; blocks."""
        ...


class Encoder:
    """Batching, caching, dense and sparse together."""

    def __init__(self, model: Model, lexical: Lexical) -> None:
        self._model = model
        self._lexical = lexical
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="embed")
        self._cache: OrderedDict[bytes, Dense] = OrderedDict()
        self._waiting: OrderedDict[bytes, str] = OrderedDict()
        self._futures: dict[bytes, asyncio.Future[Dense]] = {}
        self._worker: asyncio.Task[None] | None = None
        self.dimension = model.dimension
        self.identity = f"{model.identity}-{model.dimension}-{lexical.version}"

    async def documents(self, texts: Sequence[str]) -> list[Vectors]:
        dense = await asyncio.gather(*(self._dense(first_person(text)) for text in texts))
        return [
            Vectors(tuple(vector.tolist()), self._lexical.document(text))
            for text, vector in zip(texts, dense, strict=True)
        ]

    async def query(self, text: str) -> Vectors:
        dense = await self._dense(text)
        return Vectors(tuple(dense.tolist()), self._lexical.query(text))

    def close(self) -> None:
        """Let the thread end."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _dense(self, text: str) -> Dense:
        key = hashlib.sha256(text.encode()).digest()
        if (known := self._cache.get(key)) is not None:
            self._cache.move_to_end(key)
            return known
        if key not in self._futures:
            self._futures[key] = asyncio.get_running_loop().create_future()
            self._waiting[key] = text
            if self._worker is None or self._worker.done():
                self._worker = asyncio.create_task(self._drain())
        # One caller that gives up must not take the vector from the others who wait for it.
        return await asyncio.shield(self._futures[key])

    async def _drain(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            keys = list(self._waiting)[:BATCH]
            texts = [self._waiting.pop(key) for key in keys]
            work = loop.run_in_executor(self._thread, self._model.embed, texts)
            (outcome,) = await asyncio.gather(work, return_exceptions=True)
            self._settle(keys, outcome)

    def _settle(self, keys: Sequence[bytes], outcome: list[Dense] | BaseException) -> None:
        for place, key in enumerate(keys):
            future = self._futures.pop(key)
            if isinstance(outcome, BaseException):
                future.set_exception(outcome)
                future.exception()  # seen: nobody may be waiting any more
            else:
                future.set_result(outcome[place])
                self._cache[key] = outcome[place]
        while len(self._cache) > CACHED:
            self._cache.popitem(last=False)
