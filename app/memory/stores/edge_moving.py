"""The collections of the embedded store: folders beside each other in the data folder.

The new one is built under a name that counts for nothing and then renamed, so a run that is cut
short at any point leaves every row in a folder that counts. Needs the data folder to itself.
"""

from __future__ import annotations

import os
import shutil
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import qdrant_edge as edge

from app.errors import ConfigurationError
from app.memory.stores.edge import EdgeEngine, explain, is_edges, mapped
from app.memory.stores.moving import PAGE, PREFIX, Size, Stored
from app.memory.stores.schema import LEXICAL

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from app.domain import Shape

_DRAFT: Final = ".reindex-"
# Kept for a person to look at or to delete; nothing opens it any more.
REPLACED: Final = "replaced-"
_INDEXED: Final = edge.Filter(must=[edge.HasVectorCondition(LEXICAL)])


def older(folder: Path) -> list[str]:
    """The collections beside this one, by name; an empty folder is a start that was cut short."""
    beside = (path for path in folder.parent.glob(f"{PREFIX}*") if path != folder)
    return sorted(path.name for path in beside if path.is_dir() and any(path.iterdir()))


class EdgeSource:
    """A shard of whatever shape."""

    def __init__(self, shard: edge.EdgeShard) -> None:
        self._shard = shard

    async def size(self) -> Size:
        with mapped():
            rows = self._shard.count(edge.CountRequest())
            return Size(rows, self._shard.count(edge.CountRequest(filter=_INDEXED)))

    async def pages(self) -> AsyncIterator[list[Stored]]:
        offset = None
        while True:
            request = edge.ScrollRequest(
                offset=offset, limit=PAGE, with_payload=True, with_vector=True
            )
            with mapped():
                records, offset = self._shard.scroll(request)
            # Only UUIDs are ever written.
            yield [Stored(r.id, r.payload or {}, bool(r.vector)) for r in records]  # type: ignore[arg-type]
            if offset is None:
                return


class EdgeCollections:
    """The folder of the model in use, and those of others. `reserve`: see `EdgeEngine`."""

    def __init__(self, folder: Path, shape: Shape) -> None:
        self.name = folder.name
        self._folder = folder
        self._shape = shape
        self._draft = folder.with_name(f"{_DRAFT}{folder.name}")

    async def older(self) -> list[str]:
        return older(self._folder)

    @asynccontextmanager
    async def source(self, name: str) -> AsyncIterator[EdgeSource]:
        folder = self._folder.with_name(name)
        try:
            # Its own configuration knows its shape.
            shard = edge.EdgeShard.load(str(folder))
        except BaseException as error:
            if not is_edges(error):
                raise
            raise ConfigurationError(explain(folder, error)) from error
        try:
            yield EdgeSource(shard)
        finally:
            with mapped():
                shard.close()

    @asynccontextmanager
    async def draft(self) -> AsyncIterator[EdgeEngine]:
        shutil.rmtree(self._draft, ignore_errors=True)  # of a run that was killed
        done = False
        try:
            if self._folder.exists():
                shutil.copytree(self._folder, self._draft)
            engine = EdgeEngine(self._draft, self._shape)
            try:
                yield engine
            finally:
                await engine.close()
            done = True
        finally:
            if not done:
                shutil.rmtree(self._draft, ignore_errors=True)

    async def switch(self, moved: Sequence[str], *, delete: bool) -> list[str]:
        os.sync()  # a power cut must not find the new name with half of the content
        # Cut short behind this, the old one counts as another model's until the next run.
        aside = _free(self._folder, f"{self.name}-before")
        if self._folder.exists():
            self._folder.rename(aside)
        self._draft.rename(self._folder)
        os.sync()
        shutil.rmtree(aside, ignore_errors=True)
        left = []
        for name in moved:
            replaced = _free(self._folder, f"{REPLACED}{name}")
            self._folder.with_name(name).rename(replaced)
            if delete:
                shutil.rmtree(replaced)
            else:
                left.append(replaced.name)
        return left


def _free(folder: Path, name: str) -> Path:
    """`name`, `name-2`, …: the first that is not there."""
    path, number = folder.with_name(name), 2
    while path.exists():
        path, number = folder.with_name(f"{name}-{number}"), number + 1
    return path
