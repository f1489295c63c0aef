"""Which language a message is in: by its script, else by the small words that it holds. Pure.

The words are data (`[detect]` of a language's file), so that a language stays one file. A message
that speaks for none of them is read as English.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from app.memory.extract.language import load, table
from app.memory.script import HAN, KANA

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.memory.extract.language import Language

DEFAULT: Final = "en"
# Whatever has a file; of two that a message speaks for alike, the first.
_FILES: Final = (path.name for path in files("app.memory.extract").joinpath("languages").iterdir())
_CODES: Final = {name.removesuffix(".toml") for name in _FILES if name.endswith(".toml")}
SHIPPED: Final = (DEFAULT, *sorted(_CODES - {DEFAULT}))
# So much of a message tells its language.
HEAD_CHARS: Final = 2_000
_WORD: Final = re.compile(r"[^\W\d_]+(?:'(?=\w))?")
_ADDRESS: Final = re.compile(r"\S+://\S+|\S+@\S+")
_KANA: Final = re.compile(f"[{KANA}]")
_HAN: Final = re.compile(f"[{HAN}]")
_LATIN: Final = re.compile(rf"[^\W\d_{KANA}{HAN}]+")
_LETTER_WEIGHT: Final = 2


@dataclass(frozen=True, slots=True)
class Signs:
    """What tells a language: small words, and letters that the others do not have."""

    code: str
    words: frozenset[str] = field(repr=False)
    letters: frozenset[str] = field(repr=False)


def signs(code: str) -> Signs:
    """The signs of a language that ships."""
    rows = table(code).get("detect", {})
    words = frozenset((*rows.get("words", ()), *rows.get("more", ())))
    return Signs(code, words, frozenset(rows.get("letters", "")))


def detect(text: str, known: Iterable[Signs]) -> str:
    """The code of the language that a text is in."""
    head = _ADDRESS.sub(" ", text[:HEAD_CHARS]).lower().replace("’", "'")
    if (script := _by_script(head)) is not None:
        return script
    words = _WORD.findall(head)
    letters = set(head)
    best, most = DEFAULT, 0
    for row in known:
        count = sum(word in row.words or word.rstrip("'") in row.words for word in words)
        count += _LETTER_WEIGHT * len(letters & row.letters)
        if count > most:
            best, most = row.code, count
    return best


def _by_script(text: str) -> str | None:
    """Chinese or Japanese, where it is more than a name in a text of another script."""
    kana, han = len(_KANA.findall(text)), len(_HAN.findall(text))
    if kana + han < len(_LATIN.findall(text)):
        return None
    if kana:
        return "ja"
    return "zh" if han else None


class Languages:
    """The languages that messages are read in; one is compiled when the first message needs it."""

    def __init__(self, codes: Iterable[str] = SHIPPED) -> None:
        self._signs = tuple(signs(code) for code in codes)
        self._codes = frozenset(row.code for row in self._signs)

    def code(self, text: str) -> str:
        """The language to read a text in."""
        code = detect(text, self._signs)
        return code if code in self._codes else DEFAULT

    def of(self, text: str) -> Language:
        """The same, compiled: the first time that takes a tenth of a second."""
        return load(self.code(text))


@cache
def languages() -> Languages:
    """All that ship; their signs are read once."""
    return Languages()
