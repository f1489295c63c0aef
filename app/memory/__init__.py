"""What is remembered, and how: stores, embedding, extraction, gates, reconciliation, rendering.

`STORES` is the registry: a name to a context manager that opens the store and lets go of it;
`COLLECTIONS` has those that outlive the process, with all that they keep for `remora reindex`.
"""

from __future__ import annotations

import hashlib
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from app.memory.fusion import FUSIONS, Fuse, Weights
from app.memory.stores.base import PayloadStore
from app.memory.stores.moving import PREFIX, Collections, warn_of
from app.memory.stores.pins import PinLimits
from app.ports import Embed
from app.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager


@dataclass(frozen=True, slots=True)
class StoreSpec:
    """What it takes to open a store: the settings, the embedder it is bound to (M4), the secret."""

    settings: Settings
    embed: Embed
    key: bytes

    @property
    def collection(self) -> str:
        """A name for one embedding identity; rows of another model live in another collection."""
        identity = self.embed.identity
        readable = "".join(c if c.isascii() and c.isalnum() else "-" for c in identity)[:40]
        unique = hashlib.sha256(identity.encode()).hexdigest()[:8]
        return f"{PREFIX}{readable.strip('-')}-{unique}"

    @property
    def fuse(self) -> Fuse:
        """How two searches become one order."""
        recall = self.settings.recall
        return FUSIONS[recall.fusion](Weights(**recall.weights.model_dump()))

    @property
    def limits(self) -> PinLimits:
        """How long pins live, and how many there may be."""
        recall = self.settings.recall
        return PinLimits(timedelta(days=recall.pin_days), recall.pins_per_owner)


@asynccontextmanager
async def _edge(spec: StoreSpec) -> AsyncIterator[PayloadStore[Any]]:
    from app.memory.stores.edge import EdgeEngine  # noqa: PLC0415 only the chosen engine is loaded
    from app.memory.stores.edge_moving import older  # noqa: PLC0415

    folder = spec.settings.data_dir / spec.collection
    warn_of(older(folder), folder.name)
    engine = EdgeEngine(folder, spec.embed.shape)
    try:
        yield PayloadStore(engine, spec.key, spec.limits, spec.fuse)
    finally:
        await engine.close()


@asynccontextmanager
async def _qdrant(spec: StoreSpec) -> AsyncIterator[PayloadStore[Any]]:
    from app.memory.stores.qdrant import QdrantEngine, connect  # noqa: PLC0415

    engine = QdrantEngine(connect(spec.settings), spec.collection, spec.embed.shape)
    try:
        yield PayloadStore(engine, spec.key, spec.limits, spec.fuse)
    finally:
        await engine.close()


@asynccontextmanager
async def _edge_collections(spec: StoreSpec) -> AsyncIterator[Collections[Any]]:
    from app.memory.stores.edge_moving import EdgeCollections  # noqa: PLC0415

    yield EdgeCollections(spec.settings.data_dir / spec.collection, spec.embed.shape)


@asynccontextmanager
async def _qdrant_collections(spec: StoreSpec) -> AsyncIterator[Collections[Any]]:
    from app.memory.stores.qdrant import connect  # noqa: PLC0415
    from app.memory.stores.qdrant_moving import QdrantCollections  # noqa: PLC0415

    client = connect(spec.settings)
    try:
        yield QdrantCollections(client, spec.collection, spec.embed.shape)
    finally:
        await client.close()


@asynccontextmanager
async def _memory(spec: StoreSpec) -> AsyncIterator[PayloadStore[Any]]:
    from app.memory.stores.inmemory import InMemoryEngine  # noqa: PLC0415

    store: PayloadStore[Any] = PayloadStore(InMemoryEngine(), spec.key, spec.limits, spec.fuse)
    yield store


STORES: Final[dict[str, Callable[[StoreSpec], AbstractAsyncContextManager[PayloadStore[Any]]]]] = {
    "edge": _edge,
    "qdrant": _qdrant,
    "memory": _memory,
}

COLLECTIONS: Final[
    dict[str, Callable[[StoreSpec], AbstractAsyncContextManager[Collections[Any]]]]
] = {
    "edge": _edge_collections,
    "qdrant": _qdrant_collections,
}
