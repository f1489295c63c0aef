"""Markers: what a model is asked to end its answer with, and how they are taken out again. Pure.

    <remora-fact>{"statement": "The user lives in Porto.", "quote": "I live in Porto"}</remora-fact>

One for each fact, or one that says `none`. What asks for them is fenced by `<remora-ask>`, so that
it can be known again, and is taken out of an answer that repeats it.
"""

from __future__ import annotations

import re
from typing import Final

ASK_OPEN: Final = "<remora-ask>"
ASK_CLOSE: Final = "</remora-ask>"
FACT_OPEN: Final = "<remora-fact>"
FACT_CLOSE: Final = "</remora-fact>"
NOTHING: Final = "none"
MAX_BODY: Final = 4_000
MAX_FOUND: Final = 50
# Of a body that is too long only this is kept, to see where it ends.
_TAIL: Final = 64
_FLAGS: Final = re.IGNORECASE | re.ASCII
_BEGINNING: Final = "<remora-"
_TAGS: Final = ("<remora-ask", "<remora-fact", ASK_CLOSE, FACT_CLOSE)
_TAG: Final = re.compile(r"<remora-(?P<name>ask|fact)|</remora-(?:ask|fact)>", _FLAGS)
# A fact is one line: a model that forgets to close it must not lose the text that follows.
_END: Final = {
    "ask": re.compile(r"</remora-ask\s*>", _FLAGS),
    "fact": re.compile(
        r"</remora-fact\s*>|(?<=[^\s>])[ \t\r]*\n[ \t\r]*\n|(?=<remora-(?:ask|fact))", _FLAGS
    ),
}


def asks(text: str) -> bool:
    """Whether a block asks for markers: that is the end of it."""
    return text.endswith(ASK_CLOSE)


def unmarked(text: str) -> str:
    """A text without markers, and without what asks for them."""
    if _BEGINNING not in text.casefold() and "</remora-" not in text.casefold():
        return text
    reader = Unmarked()
    return reader.feed(text) + reader.finish()


class Unmarked:
    """Takes markers out of one text that comes in pieces; `found` is what they held.

    Held back is no more than what may be the beginning of a marker. White space behind one goes
    with it. Any split of the text reads the same.
    """

    def __init__(self) -> None:
        self.found: list[str] = []
        self._text = ""
        self._inside: str | None = None
        self._after = False

    @property
    def undecided(self) -> str:
        """The end of what was fed, as far as it may yet become a marker."""
        return "" if self._inside else self._text

    @property
    def at_rest(self) -> bool:
        """Whether the next text would pass as it is, if nothing in it looks like a marker."""
        return not (self._text or self._inside or self._after)

    def feed(self, text: str) -> str:
        """What is now known to be no marker."""
        self._text += text
        shown: list[str] = []
        while self._body() if self._inside else self._plain(shown):
            pass
        return "".join(shown)

    def finish(self) -> str:
        """What was held back and is no marker; one that was cut short is taken as it is."""
        text, self._text = self._text, ""
        if self._inside:
            self._keep(text)
            self._inside = None
            return ""
        return "" if text[: len(_BEGINNING) - 1].lower() == _BEGINNING[:-1] else text

    def _plain(self, shown: list[str]) -> bool:
        """Text up to the next marker; False if there is none yet."""
        if self._after:
            self._text = self._text.lstrip()
            self._after = not self._text
        if (tag := _TAG.search(self._text)) is None:
            end = _certain(self._text)
            shown.append(self._text[:end])
            self._text = self._text[end:]
            return False
        shown.append(self._text[: tag.start()])
        self._text = self._text[tag.end() :]
        self._inside = tag["name"] and tag["name"].lower()
        self._after = True
        return True

    def _body(self) -> bool:
        """The marker up to its end; False if that has not come yet."""
        end = _END[self._inside or ""].search(self._text)
        if end is None:
            if len(self._text) > MAX_BODY:
                self._text = self._text[-_TAIL:]
            return False
        self._keep(self._text[: end.start()])
        self._text = self._text[end.end() :]
        self._inside = None
        return True

    def _keep(self, body: str) -> None:
        if self._inside == "fact" and len(self.found) < MAX_FOUND:
            self.found.append(body[:MAX_BODY].removeprefix(">").strip())


def _certain(text: str) -> int:
    """How much of a text cannot be the beginning of a tag."""
    start = text.rfind("<")
    beginning = text[start:].lower()
    return start if start >= 0 and any(t.startswith(beginning) for t in _TAGS) else len(text)
