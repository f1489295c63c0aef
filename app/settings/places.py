"""Where a setting stands in its file: `tomllib` does not tell.

A line-wise look at what TOML files are written like: tables, lists of tables, keys. What it cannot
see (a key inside an inline table, say) gets the line of what is around it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

Place = tuple[str | int, ...]

_HEADER: Final = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY: Final = re.compile(r"^\s*([\w.\-\"' ]+?)\s*=")


def lines(text: str) -> dict[Place, int]:
    """Each table and key of a TOML text, and the number of its line, from 1."""
    found: dict[Place, int] = {}
    counts: dict[Place, int] = {}
    table: Place = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _parts(header[2])
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            found[table] = number
        elif key := _KEY.match(line):
            found.setdefault((*table, *_parts(key[1])), number)
    return found


def line_of(found: dict[Place, int], place: Sequence[str | int]) -> int | None:
    """The line of a setting, else of what it stands in; None if the file has neither."""
    for end in range(len(place), 0, -1):
        if (number := found.get(tuple(place[:end]))) is not None:
            return number
    return None


def _parts(dotted: str) -> Place:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))
