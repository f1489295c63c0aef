"""What the user takes back: "I no longer work at Acme" is about the slot of "I work at Acme"."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.domain import clean_text
from app.memory.extract.rules import apply, read
from app.memory.extract.takeback import topic_of
from app.memory.extract.third import sentence
from app.memory.slots import is_single

if TYPE_CHECKING:
    from app.domain import Learned
    from app.memory.extract.rules import Reading


def retracted(reading: Reading) -> Learned | None:
    """The statement that something is no longer so, with its slot; None if it has none.

    The content says that it is over, so that it may stand in the place of what it takes back.
    """
    language = reading.language
    for pattern, positive in language.grammar.rewrites["retract"]:
        if pattern.search(reading.clause.text) is None:
            continue
        text = pattern.sub(positive, reading.clause.text, count=1)
        before = read(replace(reading.clause, text=text), reading.at, language)
        for learned in apply(before, language.rules)[0]:
            told = clean_text(sentence(reading.told(learned.pool)))
            fact = replace(learned.fact, content=told)
            single = fact.slot is not None and is_single(fact.slot)
            topic = None if single else topic_of(text, language)
            return replace(learned, fact=fact, retracts=True, topic=topic)
    return None
