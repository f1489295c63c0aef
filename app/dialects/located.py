"""JSON with positions: what a value is and where its text stands.

The standard library's C scanner does the reading (`raw_decode` tells where a value ends), so a
35 KB body costs about 45 µs. Numbers stay as they were written: nothing here needs their value, and
neither a 5,000-digit integer nor `1e999` may fail. Everything raises ValueError or RecursionError,
nothing else.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_NEXT_ITEM: Final = re.compile(r"[ \t\n\r]*(?:,[ \t\n\r]*|(?=\]))")


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it was written."""

    text: str


_DECODER: Final = json.JSONDecoder(parse_int=Number, parse_float=Number, parse_constant=Number)


class Located(NamedTuple):
    """A value and the half-open range of its text."""

    value: Any
    start: int
    end: int


def decode(text: str) -> Any:  # noqa: ANN401 JSON is anything
    """The value of a whole text."""
    return _DECODER.decode(text)


def members(text: str, start: int) -> dict[str, Located]:
    """The members of the object at `start`; of two equal keys the last one counts."""
    found: dict[str, Located] = {}
    index = _skip(text, _expect(text, start, "{"))
    while text[index : index + 1] != "}":
        key = _value(text, index)
        value = _value(text, _skip(text, _expect(text, _skip(text, key.end), ":")))
        found[key.value] = value
        index = _separator(text, value.end, "}")
    return found


def items(text: str, start: int) -> list[Located]:
    """All items of the array at `start`."""
    found: list[Located] = []
    index = _skip(text, _expect(text, start, "["))
    while text[index : index + 1] != "]":
        found.append(_value(text, index))
        if (separator := _NEXT_ITEM.match(text, found[-1].end)) is None:
            raise ValueError(f"expected ',' or ']' at character {found[-1].end}")
        index = separator.end()
    return found


def beginning(text: str) -> int:
    """Where the first value of a text stands."""
    return _skip(text, 0)


def renamed(body: bytes, model: str) -> bytes:
    """A JSON object's bytes with another `model`; every other byte as it was."""
    text = body.decode()
    old = members(text, beginning(text))["model"]
    start, end = len(text[: old.start].encode()), len(text[: old.end].encode())
    return body[:start] + json.dumps(model, ensure_ascii=False).encode() + body[end:]


def _value(text: str, start: int) -> Located:
    value, end = _DECODER.raw_decode(text, start)
    return Located(value, start, end)


def _separator(text: str, index: int, closing: str) -> int:
    index = _skip(text, index)
    return index if text[index : index + 1] == closing else _skip(text, _expect(text, index, ","))


def _expect(text: str, index: int, mark: str) -> int:
    if text[index : index + 1] != mark:
        raise ValueError(f"expected {mark!r} at character {index}")
    return index + 1


def _skip(text: str, index: int) -> int:
    match = _SPACE.match(text, index)
    return match.end() if match else index
