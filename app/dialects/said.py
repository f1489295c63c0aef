"""Where the texts of a chat answer stand in its JSON, and how they are replaced there. Pure.

Raises ValueError or RecursionError for what is no such JSON, nothing else.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from app.dialects import located

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from app.dialects.located import Located

# What a person may get to read; models that think aloud do so in the others.
FIELDS: Final = ("content", "reasoning_content", "reasoning")
MAX_DIGITS: Final = 100
_LESS: Final = r"(?:<|\\u003c)"
_MORE: Final = r"(?:>|\\u003e)"
_CRUDE: Final = re.compile(
    rf'{_LESS}remora-(?:ask|fact)(?:\\.|[^"\\])*?(?:{_LESS}/remora-(?:ask|fact){_MORE}|(?=")|\Z)'.encode(),
    re.IGNORECASE | re.DOTALL,
)


class Key(NamedTuple):
    """What the pieces of one text have in common; `part` is its place in a list of parts."""

    choice: int
    field: str
    part: int | None


class Spot(NamedTuple):
    """A text, or a piece of it, and the half-open range of its JSON literal."""

    key: Key
    text: str
    start: int
    end: int


class Choice(NamedTuple):
    """One choice: its number, its texts, and whether it ends here."""

    number: int
    spots: list[Spot]
    over: bool


def choices(text: str, part: str) -> list[Choice]:
    """The choices of an answer or an event; `part` is `message` or `delta`."""
    located.decode(text)  # the whole of it is JSON
    found = located.members(text, located.beginning(text)).get("choices")
    if found is None or not isinstance(found.value, list):
        return []
    return [
        _choice(text, place, located.members(text, item.start), part)
        for place, item in enumerate(located.items(text, found.start))
    ]


def _choice(text: str, place: int, members: dict[str, Located], part: str) -> Choice:
    index = members["index"].value if "index" in members else None
    number = int(index.text) if isinstance(index, located.Number) else place
    finish = members.get("finish_reason")
    return Choice(
        number,
        list(_spots(text, number, members.get(part))),
        over=finish is not None and finish.value is not None,
    )


def _spots(text: str, choice: int, said: Located | None) -> Iterator[Spot]:
    if said is None or not isinstance(said.value, dict):
        return
    members = located.members(text, said.start)
    for field in FIELDS:
        value = members.get(field)
        if value is None:
            continue
        for part, found in _texts(text, value):
            yield Spot(Key(choice, field, part), found.value, found.start, found.end)


def _texts(text: str, value: Located) -> Iterator[tuple[int | None, Located]]:
    """A text, or those of a list of parts."""
    if isinstance(value.value, str):
        yield None, value
    elif isinstance(value.value, list):
        for place, item in enumerate(located.items(text, value.start)):
            if isinstance(item.value, dict):
                inner = located.members(text, item.start).get("text")
                if inner is not None and isinstance(inner.value, str):
                    yield place, inner


def replaced(text: str, spots: Sequence[Spot], texts: Sequence[str]) -> str:
    """The JSON with another text in each spot; every other character as it was."""
    parts, done = [], 0
    for spot, new in sorted(zip(spots, texts, strict=True), key=lambda pair: pair[0].start):
        if new == spot.text:
            continue
        old = text[spot.start : spot.end]
        # Escapes may be half of a surrogate pair, which UTF-8 does not have.
        parts += [text[done : spot.start], json.dumps(new, ensure_ascii="\\u" in old)]
        done = spot.end
    return "".join((*parts, text[done:]))


def piece(text: str, key: Key, tail: str) -> str:
    """An event like the one in `text` that brings only the end of one of its texts."""
    event = _loaded(text)
    event.pop("usage", None)
    value = tail if key.part is None else [{"type": "text", "text": tail}]
    event["choices"] = [{"index": key.choice, "delta": {key.field: value}, "finish_reason": None}]
    return json.dumps(event)


def silent(text: str) -> bool:
    """Whether an event brings nothing any more."""
    event = _loaded(text)
    return not event.get("usage") and all(map(_silent, event["choices"]))


def _silent(choice: dict[str, Any]) -> bool:
    rest = (value for name, value in choice.items() if name not in {"index", "delta"})
    delta = choice.get("delta")
    return not any(rest) and isinstance(delta, dict) and all(map(_empty, delta.values()))


def _empty(value: object) -> bool:
    """Whether a field says nothing: a list of empty texts does not, either."""
    if isinstance(value, list):
        return all(isinstance(part, dict) and part.get("text") == "" for part in value)
    return not value


def _loaded(text: str) -> dict[str, Any]:
    """JSON that was read before; Python refuses integers of thousands of digits."""
    loaded: dict[str, Any] = json.loads(text, parse_int=_integer)
    return loaded


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < MAX_DIGITS else float(digits)


def crude(raw: bytes) -> bytes:
    """Bytes that cannot be read, without any marker that stands whole in one string of theirs."""
    return _CRUDE.sub(b"", raw)
