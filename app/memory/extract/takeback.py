"""What a statement ends without a slot: "I sold my bike", "forget what I said about …" (M36).

Found are the words of the thing; which memory is meant is decided beside what is known (`concern`).
Pure.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from app.domain import MAX_QUOTE_CHARS, Fact, Learned, Topic, clean_text
from app.memory.extract.third import sentence as as_sentence
from app.memory.extract.wording import single_spaced

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.memory.extract.language import Language, TakeBack
    from app.memory.extract.wording import Said

_WORD: Final = re.compile(r"[\w-]*\w")
_STOPS: Final = ".!?…,;:。！？，、 "
MIN_CHARS: Final = 3
MAX_WORDS: Final = 5


def withdrawn(sentence: Said, language: Language) -> Learned | None:
    """A sentence that only takes something back: nothing is kept of it."""
    text = single_spaced(sentence.words.rstrip(_STOPS))
    topic = _topic(text, (row for row in language.grammar.takes_back if not row.kept), language)
    if topic is None:
        return None
    fact = Fact(clean_text(as_sentence(text)), lang=language.code)
    return Learned(fact, sentence.raw[:MAX_QUOTE_CHARS], retracts=True, topic=topic)


def ending(item: Learned, readings: Iterable[str], language: Language) -> Learned:
    """The fact with what it ends, if a reading of its clause says that something is over."""
    kept = [row for row in language.grammar.takes_back if row.kept]
    topics = (_topic(single_spaced(said.rstrip(_STOPS)), kept, language) for said in readings)
    return replace(item, topic=next(filter(None, topics), None))


def topic_of(text: str, language: Language) -> Topic | None:
    """The telling words of a text as a topic; None if it has too few or too many."""
    words = telling(text, language)
    return Topic(words) if words and len(words) <= MAX_WORDS else None


def telling(text: str, language: Language) -> frozenset[str]:
    """The words that mean something, folded; where none are parted by spaces, the text itself."""
    if not language.spaced:
        bare = text.strip(_STOPS)
        return frozenset({bare.casefold()} if bare else ())
    words = {word for word in _WORD.findall(text.casefold()) if len(word) >= MIN_CHARS}
    return frozenset(words - language.words["empty"])


def _topic(text: str, rows: Iterable[TakeBack], language: Language) -> Topic | None:
    for row in rows:
        found = row.match.search(text)
        if found is None:
            continue
        name = next(name for name, said in found.groupdict().items() if said)
        words = telling(found[name], language)
        if words and len(words) <= MAX_WORDS:
            rest = text[: found.start(name)] + text[found.end(name) :]
            hints = frozenset() if row.kept else telling(rest, language)
            return Topic(words, row.needs, hints, row.kept)
    return None
