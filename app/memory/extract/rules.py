"""Applies a language's rules to one clause: each match is a statement with its slot. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from app.domain import MAX_QUOTE_CHARS, Learned, Pool, clean_text
from app.memory.extract.classify import is_future
from app.memory.extract.clauses import Clause
from app.memory.extract.dates import Mention, dated, mentions
from app.memory.extract.language import Language
from app.memory.extract.third import Voice, sentence, third_person
from app.memory.slots import OWN, is_single, slot_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.memory.extract.language import Rule

_FIELD: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Reading:
    """One clause, read at one time: its dates, and the same clause in the third person."""

    clause: Clause
    dates: tuple[Mention, ...]
    at: datetime
    language: Language = field(repr=False)

    @property
    def since(self) -> Mention | None:
        """When it became true, if the clause says so and it has."""
        return next((m for m in self.dates if m.at <= self.at), None)

    def told(self, pool: Pool = Pool.USER, *, known: bool = False) -> str:
        """The clause as a statement about the user or the project, its dates written for good."""
        text = dated(self.clause.text, self.dates)
        if pool is Pool.PROJECT:
            text = _shared(text, self.language)
        voice = group(text, pool, self.language)
        return third_person(text, self.language.grammar, voice, known=known)


def _shared(text: str, language: Language) -> str:
    """What belongs to a project named so: "Main branch is …" → "the project's main branch is …"."""
    for pattern, own in language.grammar.rewrites["shared"]:
        if (found := pattern.match(text)) is not None:
            rest = text[found.end() :]
            return own + (rest if found[0] else rest[:1].lower() + rest[1:])
    return text


def read(clause: Clause, at: datetime, language: Language) -> Reading:
    """A clause with its dates resolved against the turn's time."""
    future = is_future(clause.text, language)
    return Reading(clause, mentions(clause.text, at, language.dates, future=future), at, language)


def group(text: str, pool: Pool, language: Language) -> Voice:
    """Who "we" are: the project's team, the user's team, or the user and somebody."""
    names = language.grammar.names
    if pool is Pool.PROJECT:
        return Voice(names.get("project", ""), names.get("projects", ""))
    if language["work_words"].search(text):
        return Voice(names.get("team", ""), names.get("users", ""))
    return Voice(names.get("others", ""), names.get("users", ""), plural=True)


def apply(reading: Reading, rules: Iterable[Rule]) -> tuple[list[Learned], bool]:
    """What the rules find in a clause, and whether that says all that is worth keeping of it."""
    found: list[Learned] = []
    whole = False
    text = reading.clause.text
    others = reading.language["another"].match(text) is not None
    # "Since Monday I live in Hobart": the rule knows "I live in Hobart"
    opened = reading.language["opener"].match(text)
    bare = text[opened.end() :] if opened else None
    for rule in rules:
        match = rule.match.search(text) or (rule.match.search(bare) if bare else None)
        if match is None or rule.unless.search(text) or (others and rule.slot in OWN):
            continue
        learned = _learned(rule, match, reading)
        if learned is not None and not any(_alike(learned, other) for other in found):
            found.append(learned)
            whole = whole or not rule.partial
    return found, whole


def _alike(one: Learned, other: Learned) -> bool:
    same_slot = one.fact.slot is not None and one.fact.slot == other.fact.slot
    return same_slot or one.fact.content == other.fact.content


def _learned(rule: Rule, match: re.Match[str], reading: Reading) -> Learned | None:
    slot = _slot(rule, match, reading.language)
    if slot == "":
        return None
    if slot and is_single(slot) and reading.language["additive"].search(reading.clause.quote):
        slot = None
    fact = replace(rule.fact, content=_content(rule, match, reading), slot=slot)
    since = None if rule.timeless else reading.since
    return Learned(
        fact=fact,
        quote=reading.clause.quote[:MAX_QUOTE_CHARS],
        pool=rule.pool,
        valid_from=since.at if since else None,
    )


def _content(rule: Rule, match: re.Match[str], reading: Reading) -> str:
    if rule.says == "{self}":
        told = replace(reading, dates=()) if rule.timeless else reading
        return clean_text(sentence(told.told(rule.pool)))
    since = reading.since
    values = {name: (value or "").strip(" ,.") for name, value in match.groupdict().items()}
    if match.groupdict().get("art"):
        values["art"] = f"{values['art']} "
    values["since"] = _since(since) if since else ""
    spoken = {
        name: third_person(value, reading.language.grammar, Voice("", ""), known=True)
        for name, value in values.items()
    }
    return clean_text(sentence(_FIELD.sub(lambda found: spoken.get(found[1], ""), rule.says)))


def _since(mention: Mention) -> str:
    """The written date behind "since", without its own preposition."""
    words = mention.written.split(" ", 1)
    bare = (
        words[1]
        if words[0].lower() in {"on", "in", "since"} and len(words) > 1
        else mention.written
    )
    return f" since {bare}"


def _slot(rule: Rule, match: re.Match[str], language: Language) -> str | None:
    """The rule's slot with its groups filled in; "" if one of them is empty."""
    if rule.slot is None:
        return None
    parts = []
    for part in rule.slot.split("."):
        name = _FIELD.fullmatch(part)
        key = part if name is None else slot_key(match[name[1]] or "")
        if not key:
            return ""
        parts.append(language.same.get(key, key) if name else key)
    return ".".join(parts)
