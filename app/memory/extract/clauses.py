"""A sentence as clauses, each with its own subject, so that one sentence can give several facts.

"I'm Ana, I live in Lisbon and work at Acme" → "I'm Ana" · "I live in Lisbon" · "I work at Acme".
A clause that leans on the one before it ("…, but it was messy", "… and work at") says so. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from app.memory.extract.wording import single_spaced

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from app.memory.extract.language import Language
    from app.memory.extract.wording import Said

MAX_CLAUSES: Final = 12
_MAX_LEAD_INS: Final = 6
_MAX_TAILS: Final = 4
_STOPS: Final = ".!…;,:–—- 。！，；：、"


@dataclass(frozen=True, slots=True)
class Clause:
    """What the rules read (`text`) and the piece of the message it came from (`quote`).

    `subject` was left out in the message and is put before the text; `span` is its place in the
    sentence.
    """

    text: str = field(repr=False)
    quote: str = field(repr=False)
    span: tuple[int, int]
    subject: str = ""
    leans: bool = False


def clauses(sentence: Said, language: Language) -> list[Clause]:
    """The clauses of a sentence, lead-ins and final stops taken off; at most `MAX_CLAUSES`."""
    found: list[Clause] = []
    start, subject, leans = 0, "", False
    for end, begin, next_subject, next_leans in _breaks(sentence.words, language):
        found.append(clause(sentence, (start, end), language, subject=subject, leans=leans))
        start, subject, leans = begin, next_subject, next_leans
        if len(found) == MAX_CLAUSES:
            break
    else:
        span = (start, len(sentence.words))
        found.append(clause(sentence, span, language, subject=subject, leans=leans))
    return [part for part in found if part.text]


def clause(
    sentence: Said, span: tuple[int, int], language: Language, *, subject: str = "", leans: bool
) -> Clause:
    """The clause at a place of a sentence."""
    part = sentence.cut(*span)
    part = part if subject else without_lead_in(part, language)
    words = part.words.rstrip(_STOPS)
    for _ in range(_MAX_TAILS):
        if (tail := language["trailing"].search(words)) is None:
            break
        words = words[: tail.start()].rstrip(_STOPS)
    spelled = language.grammar.spelled
    text = " ".join(spelled.get(word.lower(), word) for word in words.split())
    return Clause(subject + text if text else "", part.raw[: len(words)], span, subject, leans)


def together(sentence: Said, parts: Sequence[Clause]) -> Clause:
    """Neighbouring clauses as one, with what stands between and the subjects they were given."""
    text = parts[0].text
    for before, part in pairwise(parts):
        between = single_spaced(sentence.words[before.span[1] : part.span[0]])
        gap = "" if between[:1] in {",", ";", ":"} else " "
        text = f"{text}{gap}{between} {part.text}"
    raw = sentence.cut(parts[0].span[0], parts[-1].span[1]).raw
    begin = max(raw.find(parts[0].quote), 0)
    return replace(parts[0], text=text, quote=raw[begin:].rstrip(".!"))


def without_lead_in(part: Said, language: Language) -> Said:
    """The sentence without "Hi!", "By the way,", "Remember that" and the like."""
    for _ in range(_MAX_LEAD_INS):
        found = language["lead_in"].match(part.words)
        if found is None or found.end() == 0:
            break
        part = part.cut(found.end())
    return part


def _breaks(words: str, language: Language) -> Iterator[tuple[int, int, str, bool]]:
    """Where a clause ends, where the next begins, the subject it is given, whether it leans."""
    start, subject = 0, ""
    for found in _break(language).finditer(words):
        here = subject + single_spaced(words[start : found.start()])
        given = _subject(found, here, language) if found.start() > start else None
        if given is None:
            continue
        tied = language["tying"].search(found[0]) is not None
        leans = tied or found["leaning"] is not None or found["verb"] is not None
        yield found.start(), found.end(), given, leans
        start, subject = found.end(), given


def _subject(found: re.Match[str], here: str, language: Language) -> str | None:
    """What stands before the next clause when its subject was left out; None: it is no break."""
    if found["own"] is not None or found["leaning"] is not None:
        return None if language["no_break"].search(here) else ""
    if found["verb"] is not None and (subject := language["carried_subject"].match(here)):
        gap = " " if language.spaced and subject[0] else ""
        return None if language["open_verb"].search(here) else subject[0] + gap
    kind = "copula" if found["copula"] is not None else "introduced"
    being = language.grammar.names.get("i_am", "")
    return f"{being} " if found[kind] is not None and language[kind].search(here) else None


def _break(language: Language) -> re.Pattern[str]:
    """Every place where a clause may begin, by what comes next: made once from the patterns."""
    names = ("dependent_before", "carried", "copula_rest", "introduced_rest")
    own = f"(?:{language['break_before'].pattern}|{language['question_before'].pattern})"
    small = (language[name].pattern for name in ("connective", "joining", "again"))
    return _compiled(language.spaced, own, *(language[name].pattern for name in names), *small)


@cache
def _compiled(spaced: bool, *patterns: str) -> re.Pattern[str]:  # noqa: FBT001 a part of the key
    own, leaning, verb, copula, introduced, conn, joining, adverbs = patterns
    gap = r"\s+" if spaced else r"\s*"
    comma = r"(?:,(?!\d{3}\b)|[，、])"
    mark = rf"\s*(?:{comma}|[;:](?!\d)|[；：（]|\s[–—-]{{1,2}}(?=\s)|[–—]|\()\s*"
    again = rf"(?:{adverbs}{gap})?"
    sep = rf"(?:{mark}(?:{conn}{gap}){{0,2}}|{gap}{conn}{gap}(?:{conn}{gap})?){again}"
    joint = rf"(?:\s*{comma}\s*(?:{joining}{gap})?|{gap}{joining}{gap})"
    return re.compile(
        rf"{sep}(?=(?P<own>{own}))|{sep}(?=(?P<leaning>{leaning}))"
        rf"|{joint}{again}(?=(?P<verb>{verb}))"
        rf"|{joint}(?=(?P<copula>{copula}))|{joint}(?=(?P<introduced>{introduced}))",
        re.IGNORECASE,
    )
