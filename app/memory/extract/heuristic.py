"""The default extractor: what the user asserted, by rules that are data, with no model call (M28).

A message becomes the user's own sentences (`scope`), a sentence clauses (`clauses`), a clause is
told apart from questions and requests (`classify`); what is left is a value of a slot (`rules`), a
standing wish (`standing`) or a statement about the user that no rule knows (`generic`).
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from app.domain import MAX_QUOTE_CHARS
from app.memory.extract.classify import LEARNED, Kind, classify
from app.memory.extract.clauses import clauses, together, without_lead_in
from app.memory.extract.context import answered, context, plays, themed
from app.memory.extract.corrections import corrected, joined
from app.memory.extract.generic import MIN_WORDS, continued, generic, goes_on, is_own, own_run
from app.memory.extract.language import load
from app.memory.extract.people import named, resolved
from app.memory.extract.retract import retracted
from app.memory.extract.rules import apply, read
from app.memory.extract.scope import said
from app.memory.extract.segment import QUOTED
from app.memory.extract.standing import standing
from app.memory.extract.takeback import ending, withdrawn
from app.memory.extract.third import sentence as as_sentence
from app.memory.extract.tidy import tidy
from app.memory.extract.wording import plain, verbatim

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from app.domain import Learned, Message, Turn
    from app.memory.extract.clauses import Clause
    from app.memory.extract.context import Context
    from app.memory.extract.detect import Languages
    from app.memory.extract.language import Language
    from app.memory.extract.wording import Said

# A longer message may take tens of milliseconds; the event loop has calls to serve meanwhile.
LONG: Final = 2_000
_SILENT = frozenset({Kind.SYSTEM, Kind.ROLE_PLAY, Kind.HYPOTHETICAL, Kind.GREETING})
_ASKING = frozenset({Kind.QUESTION, Kind.COMMAND})


class HeuristicExtractor:
    """Reads the user's text only: what the assistant said is nobody's fact (M29)."""

    def __init__(self, languages: Languages) -> None:
        self._languages = languages
        self._loaded: dict[str, Language] = {}

    async def __call__(self, turn: Turn) -> tuple[Learned, ...]:
        code = self._languages.code(turn.query)
        if (language := self._loaded.get(code)) is None:
            language = self._loaded[code] = await asyncio.to_thread(load, code)
        if len(turn.query) <= LONG:
            return extract(turn.query, turn.at, language, turn.source.before)
        return await asyncio.to_thread(extract, turn.query, turn.at, language, turn.source.before)


def extract(
    text: str, at: datetime, language: Language, before: Sequence[Message] = ()
) -> tuple[Learned, ...]:
    """The facts of one message, in the order they were said.

    `at` is when it was said, `before` the last messages before it, newest last.
    """
    around = context(before)
    if plays(around, language):
        return ()
    sentences = [without_lead_in(s, language) for s in joined(said(text, language), language)]
    kinds = [classify(sentence.words, language) for sentence in sentences]
    reader = _Reader(at, language, around, asks=any(kind in _ASKING for kind in kinds))
    found: list[Learned] = []
    open_end = False  # whether the last fact may go on in the next sentence
    for sentence, kind in zip(sentences, kinds, strict=True):
        told = list(reader.facts(sentence, kind))
        more = reader.more(sentence, kind, told) if open_end else ""
        if more and (longer := continued(found[-1], more)):
            found[-1] = longer
            continue
        found += told
        open_end = bool(told) and told[-1].fact.slot is None
    return tuple(replace(item, quote=verbatim(item.quote, text)) for item in tidy(found))


class _Reader:
    """One message, sentence by sentence; remembers whom it named last."""

    def __init__(self, at: datetime, language: Language, around: Context, *, asks: bool) -> None:
        self._at = at
        self._around = around
        self._language = language
        self._asks = asks
        self._person: str | None = None

    def facts(self, sentence: Said, kind: Kind) -> Iterator[Learned]:
        """What one sentence tells."""
        if (over := withdrawn(sentence, self._language)) is not None:
            yield over
            return
        if kind in _SILENT or (kind is Kind.STYLE and self._asks):
            return
        if kind in {Kind.STANDING, Kind.STYLE}:
            if self._language["this_once"].search(sentence.words):
                return
            yield standing(self._wish(sentence), self._language)
            return
        meant = self._meant(sentence.words, kind)
        body = sentence if meant is None else replace(plain(meant), raw=meant)
        for group in _groups(self._asserted(clauses(body, self._language)), self._language):
            for item in self._told(body, group):
                yield item if meant is None else replace(item, quote=sentence.raw[:MAX_QUOTE_CHARS])

    def _meant(self, words: str, kind: Kind) -> str | None:
        """The sentence as it is to be read, corrected and with its context; None: as it stands."""
        heard, self._around = self._around, replace(self._around, heard="")
        fixed = corrected(words, self._language)
        if fixed is None and kind in LEARNED:
            fixed = answered(words, heard, self._language)
        return themed(fixed or words, heard, self._language) or fixed

    def more(self, sentence: Said, kind: Kind, told: Sequence[Learned]) -> str:
        """What a sentence adds to the fact before it, if it has no subject of its own."""
        if not told:
            words = as_sentence(sentence.words)
            return words if goes_on(sentence, kind, self._language) else ""
        subjectless = self._language["elliptical"].search(sentence.words)
        if subjectless is None or any(item.fact.slot for item in told) or len(told) > 1:
            return ""
        whole = together(sentence, clauses(sentence, self._language))
        return generic(whole, self._at, self._language, known=True).fact.content

    def _wish(self, sentence: Said) -> Clause:
        """A standing wish up to where the sentence begins to ask."""
        parts = clauses(sentence, self._language)
        kept = [parts[0]]
        for place, part in enumerate(parts[1:]):
            opened = place == 0 and len(parts[0].text.split()) < MIN_WORDS  # "Going forward, …"
            if not opened and classify(part.text, self._language) in _ASKING:
                break
            kept.append(part)
        return together(sentence, kept)

    def _asserted(self, parts: Sequence[Clause]) -> Iterator[Clause]:
        """The clauses that state something; a question takes along what leans on it."""
        dropped = False
        for spoken in parts:
            part = resolved(spoken, self._person, self._language)
            self._person = named(part.text, self._language) or self._person
            if part.leans and dropped:
                continue
            kind = classify(part.text, self._language)
            creative = kind is Kind.COMMAND and self._language["creative"].search(part.text)
            if creative or kind is Kind.HYPOTHETICAL:
                return
            dropped = kind not in LEARNED or QUOTED in part.text
            if not dropped:
                yield part

    def _told(self, body: Said, group: Sequence[Clause]) -> Iterator[Learned]:
        """The facts of a clause and of those that lean on it."""
        loose: list[Clause] = []
        stands = True
        for part in group:
            if part.subject and not stands:  # what it shares its subject with is not kept either
                continue
            reading = read(part, self._at, self._language)
            over = retracted(reading)
            found, whole = ([over], True) if over else apply(reading, self._language.rules)
            yield from (self._ending(item, body, part) for item in found)
            stands = stands if part.subject else whole or is_own(part, self._language)
            if not whole:
                loose.append(part)
                continue
            yield from self._loose(body, loose)
            loose = []
        yield from self._loose(body, loose)

    def _loose(self, body: Said, parts: Sequence[Clause]) -> Iterator[Learned]:
        """What no rule knows: as much of it together as stands for itself."""
        place = 0
        while place < len(parts):
            run = list(own_run(parts[place:], self._language))
            place += len(run) or 1
            if run:
                whole = together(body, run)
                yield self._ending(generic(whole, self._at, self._language), body, whole)

    def _ending(self, item: Learned, body: Said, clause: Clause) -> Learned:
        """The fact with what it ends; the little words at a clause's end tell ("… Max now")."""
        if item.topic:
            return item
        spoken = without_lead_in(body.cut(*clause.span), self._language).words
        return ending(item, (clause.text, clause.subject + spoken), self._language)


def _groups(parts: Iterator[Clause], language: Language) -> Iterator[list[Clause]]:
    """The clauses of a sentence that speak of one thing; another person begins another group."""
    group: list[Clause] = []
    for part in parts:
        if group and not part.leans and language["other_subject"].match(part.text):
            yield group
            group = []
        group.append(part)
    if group:
        yield group
