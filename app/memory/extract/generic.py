"""A statement about the user that no rule knows: kept whole, if it is theirs and lasting. Pure.

The subject must be the user, their people or their project; a momentary state, a request, an
opinion about the answer or a clause that only makes sense beside it is not kept.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from app.domain import MAX_QUOTE_CHARS, Fact, Learned, Pool, clean_text
from app.memory.extract.classify import LEARNED
from app.memory.extract.rules import read
from app.memory.extract.segment import QUOTED
from app.memory.extract.third import sentence as as_sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from app.memory.extract.classify import Kind
    from app.memory.extract.clauses import Clause
    from app.memory.extract.language import Language
    from app.memory.extract.wording import Said

MIN_WORDS: Final = 3
MAX_WORDS: Final = 60
MAX_CHARS: Final = 400
# A statement that only the general shape of a clause speaks for.
CONFIDENCE: Final = 0.7
IMPORTANCE: Final = 0.4
IMPORTANCE_OF_PEOPLE: Final = 0.5
_LETTER: Final = re.compile(r"\w")


def generic(clause: Clause, at: datetime, language: Language, *, known: bool = False) -> Learned:
    """The clause as a fact about the user; `known`: it goes on about them ("They are …")."""
    clause = with_subject(clause, language)
    reading = read(clause, at, language)
    pool = pool_of(clause.text, language)
    people = language["relation_subject"].search(clause.text) is not None
    fact = Fact(
        clean_text(as_sentence(reading.told(pool, known=known))),
        importance=IMPORTANCE_OF_PEOPLE if people else IMPORTANCE,
        confidence=CONFIDENCE,
        lang=language.code,
    )
    since = reading.since
    quote = clause.quote[:MAX_QUOTE_CHARS]
    return Learned(fact=fact, quote=quote, pool=pool, valid_from=since.at if since else None)


def own_run(parts: Sequence[Clause], language: Language) -> Iterator[Clause]:
    """The first of these clauses, if it is the user's own, and those behind that may go with it."""
    for place, part in enumerate(parts):
        if not (is_own(part, language) if place == 0 else may_follow(part, language)):
            return
        yield part


def is_own(clause: Clause, language: Language) -> bool:
    """Whether a clause asserts something lasting about the user, their people or their work."""
    text = with_subject(clause, language).text
    count = size(text, language)
    if count > MAX_WORDS or not _lasts(text, language) or language["unresolved"].search(text):
        return False
    if count < MIN_WORDS and not language["even"].search(text):
        return False
    return any(language[name].search(text) for name in ("subject", "relation_subject", "project"))


def may_follow(clause: Clause, language: Language) -> bool:
    """Whether a clause can stand behind one that is kept."""
    return _lasts(clause.text, language)


def _lasts(text: str, language: Language) -> bool:
    if language["never"].search(text):
        return False
    return not language["held"].search(text) or language["even"].search(text) is not None


def continued(before: Learned, after: str) -> Learned | None:
    """The fact with a sentence that goes on about it ("It was messy."), while it is short."""
    content = f"{before.fact.content} {after}"
    if len(content) > MAX_CHARS:
        return None
    return replace(before, fact=replace(before.fact, content=content))


def goes_on(sentence: Said, kind: Kind, language: Language) -> bool:
    """Whether a sentence only makes sense behind the one before it."""
    words = sentence.words
    own = kind in LEARNED and QUOTED not in words and size(words, language) >= MIN_WORDS
    return own and language["continues"].match(words) is not None and _lasts(words, language)


def with_subject(clause: Clause, language: Language) -> Clause:
    """The clause with the subject that was left out: "Moved to Porto" → "I moved to Porto"."""
    text = clause.text
    if not language["elliptical"].search(text):
        return clause
    names = language.grammar.names
    subject = names["i_am" if language["being"].match(text) else "i"]
    return replace(clause, text=f"{subject} {text[0].lower()}{text[1:]}")


def size(text: str, language: Language) -> int:
    """How many words a text has; where they are written without spaces, three letters count as two.

    >>> size("我对花生过敏", load("zh"))
    4
    """
    return len(text.split()) if language.spaced else 2 * len(_LETTER.findall(text)) // 3


def pool_of(text: str, language: Language) -> Pool:
    """Who shares it: everyone on the project only where the clause is plainly about the project."""
    return Pool.PROJECT if language["project"].search(text) else Pool.USER
