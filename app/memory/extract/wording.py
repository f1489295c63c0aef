"""A piece of the message and its plain words, place by place, to be cut alike. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

_PLAIN: Final = str.maketrans(
    {
        **dict.fromkeys("’‘`\u00b4", "'"),
        **dict.fromkeys("“”„", '"'),
        **dict.fromkeys("\n\t\r\u00a0\u2009\u202f", " "),
    }
)

# So many spaces between capitals only are not a name or a title.
SHOUTING: Final = 3


@dataclass(frozen=True, slots=True)
class Said:
    """What stands in the message (`raw`, verbatim) and how it is read (`words`, as long)."""

    raw: str = field(repr=False)
    words: str = field(repr=False)

    def cut(self, start: int, end: int | None = None) -> Said:
        """A part of it, without space at its ends."""
        words = self.words[start:end]
        left = len(words) - len(words.lstrip())
        kept = words.strip()
        begin = start + left
        return Said(self.raw[begin : begin + len(kept)], kept)


def plain(text: str) -> Said:
    """Typographic quotes and white space read as plain ones, and shouting as speech."""
    words = text.translate(_PLAIN)
    return Said(text, words.lower() if _shouts(words) else words)


def _shouts(words: str) -> bool:
    return words.isupper() and words.count(" ") >= SHOUTING and len(words.lower()) == len(words)


def verbatim(quote: str, text: str) -> str:
    """The quote as it stands in the text, however it is spaced there; "" if it does not."""
    if quote in text:
        return quote
    found = re.search(r"\s+".join(map(re.escape, quote.split())), text)
    return found[0][: len(quote)] if found else ""


def single_spaced(words: str) -> str:
    """Words with single spaces: what the rules are matched against."""
    return " ".join(words.split())
