"""Brings the rows of other models' collections into the one in use, embedded anew from their text.

A row keeps every word it has; only its vector is new. Where two collections have a row of the same
id, the one that was updated last stays. The old collections are only read, so a run that was cut
short is run again, and what it had brought over already costs no second embedding.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from app.errors import StoreError
from app.memory.rows import from_row, id_of, wire_id
from app.memory.stores.engine import Write
from app.memory.stores.plan import Plan, is_pin

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from app.domain import Vectors
    from app.memory.rows import Row
    from app.memory.stores.engine import Engine
    from app.memory.stores.moving import Collections, Source, Stored
    from app.ports import Embed

C = TypeVar("C")


@dataclass(slots=True)
class Tally:
    """What became of the rows so far. `contested`: ids (hex digits) that had two different rows."""

    read: int = 0
    written: int = 0
    embedded: int = 0
    damaged: int = 0
    contested: set[str] = field(default_factory=set, repr=False)


async def reindex(
    collections: Collections[C],
    embed: Embed,
    *,
    delete: bool = False,
    progress: Callable[[Tally], None] = lambda _: None,
) -> tuple[Tally, list[str]]:
    """What was done, and the names under which the old collections are kept, unless `delete`.

    Raises `ConfigurationError` for an old collection that cannot be opened and `StoreError` for
    all else; then the old collections are as they were, and in use as they were.
    """
    moved = await collections.older()
    tally = Tally()
    if not moved:
        return tally, []
    async with collections.draft() as target:
        move = _Move(target, embed, tally, progress)
        # Pins last: only then it is known which of them show what a memory no longer says.
        for pins in (False, True):
            for name in moved:
                async with collections.source(name) as source:
                    await move.all_of(source, pins=pins)
    return tally, await collections.switch(moved, delete=delete)


class _Move(Generic[C]):
    """Rows on their way into one engine."""

    def __init__(
        self, target: Engine[C], embed: Embed, tally: Tally, progress: Callable[[Tally], None]
    ) -> None:
        self._target = target
        self._plan = Plan(target.kit, b"")  # no content is asked for
        self._embed = embed
        self._tally = tally
        self._progress = progress

    async def all_of(self, source: Source, *, pins: bool) -> None:
        """Bring over all pins, or all that is none."""
        seen = 0
        async for page in source.pages():
            seen += len(page)
            await self._page([stored for stored in page if is_pin(stored.row) is pins])
            self._progress(self._tally)
        if seen != (await source.size()).rows:
            raise StoreError("not every row was read: stop whatever writes to it, and run it again")

    async def _page(self, page: Sequence[Stored]) -> None:
        self._tally.read += len(page)
        self._tally.damaged += sum(_is_damaged(stored) for stored in page)
        known = await self._known(page)
        wanted = [s for s in page if not self._outdated(s, known.get(s.id))]
        if replaced := [s.id.hex for s in wanted if s.id in known]:
            # Before, since a stop in between must leave none that shows what is replaced.
            await self._target.delete(self._plan.pins_showing(replaced))
        vectors = await self._vectors(wanted)
        writes = [self._write(s, vectors.get(s.id), known.get(s.id)) for s in wanted]
        if not all(await self._target.write(writes)):
            raise StoreError("somebody else writes to it: stop every server, and run it again")
        self._tally.written += len(writes)
        self._tally.embedded += len(vectors)

    async def _known(self, page: Sequence[Stored]) -> dict[UUID, Row]:
        """What the new collection has under these ids."""
        if not page:
            return {}
        ids = self._target.kit.ids([stored.id for stored in page])
        rows = await self._target.scroll(ids, len(page), order=None)
        return {id_of(row): row for row in rows}

    def _outdated(self, stored: Stored, known: Row | None) -> bool:
        """Whether the new collection has it, as it is or newer; or a pin of what changed since."""
        shown = stored.row.get("memories") if is_pin(stored.row) else None
        if isinstance(shown, list) and not self._tally.contested.isdisjoint(map(str, shown)):
            return True
        if known is None:
            return False
        if _same(stored, known):
            return True
        self._tally.contested.add(stored.id.hex)
        return _moment(known) >= _moment(stored.row)

    async def _vectors(self, wanted: Sequence[Stored]) -> dict[UUID, Vectors]:
        texts = {s.id: text for s in wanted if s.indexed and (text := _text(s.row))}
        return dict(zip(texts, await self._embed.documents(list(texts.values())), strict=True))

    def _write(self, stored: Stored, vectors: Vectors | None, known: Row | None) -> Write[C]:
        if known is None:
            return Write(stored.id, stored.row, vectors)
        kit = self._target.kit
        name, moment = _updated(known)
        same = [kit.equals(name, moment)] if name else []
        condition = kit.every([kit.ids([stored.id]), *same])
        return Write(stored.id, stored.row, vectors, condition, unindex=vectors is None)


def _text(row: Row) -> str:
    content = row.get("content")
    return content if isinstance(content, str) and content.strip() else ""


def _is_damaged(stored: Stored) -> bool:
    """Whether no memory can be read from it; it is brought over as it is."""
    if is_pin(stored.row):
        return False
    try:
        from_row(stored.row | {"id": wire_id(stored.id)})
    except ValueError:
        return True
    return False


def _same(stored: Stored, known: Row) -> bool:
    """Whether both come from one write; use counts, which need none, may differ."""
    revision = stored.row.get("rev")
    if isinstance(revision, str):
        return revision == known.get("rev")
    return stored.row | {"id": known["id"]} == known


def _updated(row: Row) -> tuple[str, int]:
    """By which field a row tells when it was written last (pins never change), and that."""
    for name in ("updated_us", "created_us"):
        if isinstance(moment := row.get(name), int):
            return name, moment
    return "", 0


def _moment(row: Row) -> int:
    return _updated(row)[1]
