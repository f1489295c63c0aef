"""Takes markers out of a chat answer, whole or streamed; every other byte stays. Pure.

A stripper takes bytes and gives those that may go on; no input makes it raise. An event without
marker text is passed as it came. Of a text that ends in what may begin a marker, the rest passes
at once; so does whatever is not the text of a choice.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final, Protocol

from app.dialects import said
from app.domain.marker import Unmarked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.dialects.said import Choice, Key, Spot

STREAM: Final = "text/event-stream"
_HINT: Final = re.compile(rb"<|\\u003c", re.IGNORECASE)
_DATA: Final = re.compile(rb"(data: ?)([^\r\n]*)(\r\n|\n|\r|)\Z")
_DONE: Final = "[DONE]"


class Stripper(Protocol):
    """What both have."""

    @property
    def found(self) -> tuple[str, ...]:
        """What the markers in the first choice held."""
        ...

    def feed(self, chunk: bytes) -> bytes:
        """Take bytes as they come; those that may go on."""
        ...

    def finish(self) -> bytes:
        """What was held back."""
        ...


class WholeStripper:
    """A whole answer: all of it comes at the end."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self.found: tuple[str, ...] = ()

    def feed(self, chunk: bytes) -> bytes:
        self._chunks.append(chunk)
        return b""

    def finish(self) -> bytes:
        body = b"".join(self._chunks)
        if _HINT.search(body) is None:
            return body
        try:
            text = body.decode()
            spots = [spot for choice in said.choices(text, "message") for spot in choice.spots]
        except (ValueError, RecursionError):
            return said.crude(body)
        return said.replaced(text, spots, [self._shown(spot) for spot in spots]).encode()

    def _shown(self, spot: Spot) -> str:
        reader = Unmarked()
        shown = reader.feed(spot.text) + reader.finish()
        if _is_answer(spot.key):
            self.found += tuple(reader.found)
        # What stood before a marker at the end only set it apart.
        return shown if spot.text.endswith(shown) else shown.rstrip()


class StreamStripper:
    """An event stream. Held back are lines of data until their event is whole, and ends of texts.

    The events in `_held` are those whose texts are what a reader has not decided about yet.
    """

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._lines: list[bytes] = []
        self._readers: defaultdict[Key, Unmarked] = defaultdict(Unmarked)
        self._held: defaultdict[Key, list[bytes]] = defaultdict(list)

    @property
    def found(self) -> tuple[str, ...]:
        read = (reader for key, reader in self._readers.items() if _is_answer(key))
        return tuple(found for reader in read for found in reader.found)

    def feed(self, chunk: bytes) -> bytes:
        self._rest.append(chunk)
        if b"\n" not in chunk and b"\r" not in chunk:
            return b""
        lines = b"".join(self._rest).splitlines(keepends=True)
        # A carriage return at the end may be half of a line's end.
        self._rest = [] if lines[-1].endswith(b"\n") else [lines.pop()]
        return b"".join(map(self._line, lines))

    def finish(self) -> bytes:
        lines = b"".join(self._rest).splitlines(keepends=True)
        shown = b"".join(map(self._line, lines))
        return shown + self._event(self._lines) + self._released()

    def _line(self, line: bytes) -> bytes:
        """Lines of data wait for the end of their event; others pass."""
        if line[:1] in b"\r\n":
            lines, self._lines = [*self._lines, line], []
            return self._event(lines)
        if not self._lines and not line.startswith(b"data"):
            return line
        self._lines.append(line)
        return b""

    def _event(self, lines: Sequence[bytes]) -> bytes:
        raw = b"".join(lines)
        if not self._held and self._at_rest() and _HINT.search(raw) is None:
            return raw
        try:
            text = _data(lines)
            if text in {"", _DONE}:
                return (self._released() if text else b"") + raw
            found = said.choices(text, "delta")
        except (ValueError, RecursionError):
            return said.crude(raw)
        return self._passed(_Event(lines, text, found))

    def _at_rest(self) -> bool:
        return all(reader.at_rest for reader in self._readers.values())

    def _passed(self, event: _Event) -> bytes:
        """The event with what may be read of it by now, after what was held back before it."""
        spots, texts, later = event.spots, [], []
        out: list[bytes] = []
        for spot in spots:
            shown, before = self._read(spot, over=spot in event.last)
            out += before
            texts.append(shown)
            undecided = self._readers[spot.key].undecided
            tail = undecided[-len(spot.text) :] if spot.text else ""
            later += [(spot, tail)] if tail else []
        if _waits_whole(spots, "".join(texts), later):
            self._held[later[0][0].key].append(event.raw)
            return b"".join(out)
        for choice in event.choices:
            out += [self._released(choice.number)] if choice.over else []
        out.append(event.shown(texts))
        for spot, tail in later:
            held = b"data: %s\n\n" % said.piece(event.text, spot.key, tail).encode()
            self._held[spot.key].append(held)
        return b"".join(out)

    def _read(self, spot: Spot, *, over: bool) -> tuple[str, list[bytes]]:
        """What of a text may be read by now, and the events that waited for it."""
        reader = self._readers[spot.key]
        before = reader.undecided
        shown = reader.feed(spot.text)
        shown += reader.finish() if over else ""
        if not before or reader.undecided == before + spot.text:
            return shown, []
        held = self._held.pop(spot.key, [])
        if shown.startswith(before):
            return shown[len(before) :], held
        return shown, list(map(_blank, held))  # they were the beginning of a marker

    def _released(self, choice: int | None = None) -> bytes:
        """The events that still wait, of one choice or of all: no more will come."""
        out: list[bytes] = []
        for key, reader in self._readers.items():
            if choice is None or key.choice == choice:
                shown, held = reader.finish(), self._held.pop(key, [])
                out += held if shown else map(_blank, held)
        return b"".join(out)


class _Event:
    """One event: its lines, the JSON in it, and what that says."""

    def __init__(self, lines: Sequence[bytes], text: str, choices: Sequence[Choice]) -> None:
        self._lines = lines
        self.raw = b"".join(lines)
        self.text = text
        self.choices = choices
        self.spots = [spot for choice in choices for spot in choice.spots]

    @property
    def last(self) -> list[Spot]:
        """The last spot of each text that ends here."""
        over = {choice.number for choice in self.choices if choice.over}
        ends = {spot.key: spot for spot in self.spots if spot.key.choice in over}
        return list(ends.values())

    def shown(self, texts: Sequence[str]) -> bytes:
        """Its bytes with these texts; none if it had no more to say than what is gone."""
        if texts == [spot.text for spot in self.spots]:
            return self.raw
        text = said.replaced(self.text, self.spots, texts)
        return b"" if said.silent(text) else _written(self._lines, text)


def _is_answer(key: Key) -> bool:
    """Whether it is what `app.dialects.reply` reads: the content of the first choice."""
    return key.choice == 0 and key.field == "content"


def _waits_whole(spots: Sequence[Spot], shown: str, later: Sequence[tuple[Spot, str]]) -> bool:
    """Whether all that an event says may be a marker, but for space in front: then it is kept."""
    if len(later) != 1 or shown.strip():
        return False
    return shown + later[0][1] == "".join(spot.text for spot in spots)


def _blank(raw: bytes) -> bytes:
    """An event that was kept, without the beginning of a marker that it holds."""
    lines = raw.splitlines(keepends=True)
    text = _data(lines)
    event = _Event(lines, text, said.choices(text, "delta"))
    return event.shown([_space(spot.text) for spot in event.spots])


def _space(text: str) -> str:
    """The white space that a text begins with."""
    return text[: len(text) - len(text.lstrip())]


def _data(lines: Sequence[bytes]) -> str:
    """The data of an event; raises ValueError if it is no text."""
    found = (_DATA.match(line) for line in lines)
    return b"\n".join(match[2] for match in found if match).decode().strip()


def _written(lines: Sequence[bytes], text: str) -> bytes:
    """An event's lines with other data; no string of JSON spans two lines."""
    parts, out = iter(text.encode().split(b"\n")), []
    for line in lines:
        match = _DATA.match(line)
        out.append(match[1] + next(parts, b"") + match[3] if match else line)
    return b"".join(out)


def stripper(content_type: str, *, stream: bool) -> Stripper:
    """For an answer of that type to a call that asked for a stream, or did not."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind == STREAM or (stream and kind != "application/json"):
        return StreamStripper()
    return WholeStripper()
