"""A message as the user's own words, and those as sentences. Pure; linear in the text.

What is cut out leaves a mark behind, and no piece crosses a mark, so that every sentence is a
verbatim piece of the message.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from app.memory.script import CJK, HAN, KANA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_CHARS: Final = 12_000
MAX_SENTENCES: Final = 80
MAX_SENTENCE_CHARS: Final = 600
# Stands for a quotation inside a sentence; a clause that holds one is not the user's own.
QUOTED: Final = "\ufffc"
_GAP: Final = "\n\n"

_FENCES: Final = re.compile(r"(?P<fence>```|~~~)(?:.*?)(?:(?P=fence)|\Z)", re.DOTALL)
_TAG: Final = re.compile(r"<([A-Za-z][\w:-]{0,40})(?:\s[^<>]{0,200})?>")
_LEFT_TAG: Final = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>")
# Quotation marks that come in pairs; the plain ones only where no word touches them from outside.
_QUOTES: Final = re.compile(
    r"“([^”\n]{1,400})”|«([^»\n]{1,400})»|„([^“”\n]{1,400})[“”]|「([^」]{1,400})」"
    r'|(?<!\w)"([^"\n]{1,400})"(?!\w)|(?<!\w)\'([^\n\']{1,60}(?:\'\w[^\n\']{0,60}){0,6})\'(?!\w)'
)
_TITLE_WORDS: Final = 4
_TITLE_CHARS: Final = 40
_TITLE_CHARS_CJK: Final = 8
_OWN: Final = re.compile(
    r"\b(?:i|i'm|me|my|we|our|you|your|ich|mein\w*|wir|yo|mi|mis|soy|je|j'\w+|mon|ma|mes|eu"
    r"|meu|minha|sou)\b|我|私|僕|俺",
    re.IGNORECASE,
)

# One line that nobody says: a quoted mail, a log, a shell, a stack trace, a table, a diff.
_MATERIAL: Final = re.compile(
    r"""^\s*(?:>|\|
    |\[?\d{4}-\d\d-\d\d[T\ ]\d\d:\d\d|\[?\d\d:\d\d(?::\d\d)?\]
    |(?:<\d+>)?[A-Z][a-z]{2}\ {1,2}\d{1,2}\ \d\d:\d\d:\d\d\s
    |\d{1,3}(?:\.\d{1,3}){3}\s|(?:[$%#]|PS\ [A-Z]:.*>|>>>|\.\.\.)\s?\S*[\w./-]+\s*[\w./-]
    |\S+@\S+[:~].*[$#]|\[?(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL|CRITICAL)\b
    |Traceback\ |File\ "|at\ [\w.$<>]+\(|Caused\ by:|[\w.]+(?:Error|Exception)\b
    |(?:user|assistant|human|ai|bot|system|tool|chatgpt|claude)\s?:\s
    |[+-]{3}\ \S|@@\ |diff\ --git|import\ \w|from\ \S+\ import
    |(?:def|class|function|const|let|var)\ \w
    |(?:SELECT|INSERT|UPDATE|DELETE|CREATE)\ .*(?:;|\bFROM\b|\bINTO\b|\bSET\b|\bTABLE\b)
    |return\b.*[;()]|(?:if|for|while)\b.*[:{]\s*$|[{}\[\]()<>;]+\s*$|(?:GET|POST|PUT)\ /
    |[\w.-]+\s?[:=]{1,2}\s?["'\[{(<\d]|\S+\s=\s\S+\s*;?$|"\w+"\s?:)""",
    re.VERBOSE | re.IGNORECASE,
)
_SYMBOL: Final = re.compile(r"[{}\[\]()<>;=|\\/*&^%$#@~`_+]")
_SYMBOL_SHARE: Final = 0.2


def own_words(text: str) -> str:
    r"""The message without code, tagged blocks, material lines and quotations.

    >>> own_words("I use Rust.\\n```\\nlet me = 1;\\n```\\nMy boss said “we all love Go”.")
    'I use Rust.\\n\\n\\n\\n\\nMy boss said \ufffc.'
    """
    text = _without_tagged(_FENCES.sub(_GAP, text[:MAX_CHARS]))
    text = _LEFT_TAG.sub(_GAP, text)
    lines = (_GAP if _is_material(line) else line for line in text.split("\n"))
    return _QUOTES.sub(_quoted, "\n".join(lines))


def _without_tagged(text: str) -> str:
    """Cut `<tag>…</tag>`: an injected block, a file, a page. An unclosed tag ends nothing."""
    kept: list[str] = []
    place = 0
    unclosed: set[str] = set()
    while (opened := _TAG.search(text, place)) is not None:
        name = opened[1]
        closing = f"</{name}>"
        end = -1 if name in unclosed else text.find(closing, opened.end())
        if end < 0:
            unclosed.add(name)
            # an injected block that lost its end is still not the user's word
            end = len(text) if name.lower() == "memory" else opened.end() - len(closing)
        kept.append(text[place : opened.start()])
        place = end + len(closing)
    return _GAP.join([*kept, text[place:]])


def _is_material(line: str) -> bool:
    if _MATERIAL.match(line):
        return True
    symbols = len(_SYMBOL.findall(line))
    return symbols > 2 and symbols >= _SYMBOL_SHARE * len(line)  # noqa: PLR2004


def _quoted(match: re.Match[str]) -> str:
    """A title stays ("Dune"); a saying goes."""
    said = next(group for group in match.groups() if group)
    most = _TITLE_CHARS if said.isascii() or not CJK.search(said) else _TITLE_CHARS_CJK
    short = len(said.split()) <= _TITLE_WORDS and len(said) <= most and not _OWN.search(said)
    return match[0] if short else QUOTED


_END: Final = re.compile(
    r"(?P<stop>(?:[.!?…]+[\"'”’)\]]*(?=\s|$))|[。！？]+)|(?P<line>\n(?=\s*(?:[-*•–]|\d{1,2}[.)])\s)"
    rf"|\n\s*\n|\n(?=\s*(?:[A-ZÀ-Þ¿¡{KANA}{HAN}]|I\b|$)))|(?P<mark>\n)"
)
_BULLET: Final = re.compile(r"\s*(?:[-*•–]|\d{1,2}[.)])\s+")


def sentences(text: str, is_abbreviation: Callable[[str], bool] = lambda _: False) -> list[str]:
    """The sentences, each verbatim, without bullets; the first `MAX_SENTENCES`."""
    found: list[str] = []
    for piece in _pieces(text, is_abbreviation):
        bullet = _BULLET.match(piece)
        sentence = piece[bullet.end() if bullet else 0 :].strip()
        if sentence and len(sentence) <= MAX_SENTENCE_CHARS:
            found.append(sentence)
        if len(found) == MAX_SENTENCES:
            break
    return found


def _pieces(text: str, is_abbreviation: Callable[[str], bool]) -> Iterator[str]:
    start = 0
    for end in _END.finditer(text):
        if end["mark"] or (end["stop"] == "." and is_abbreviation(text[start : end.start()][-12:])):
            continue
        yield text[start : end.end()]
        start = end.end()
    yield text[start:]
