"""How the user wants answers and work done from now on, as procedural facts (M33). Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.domain import MAX_QUOTE_CHARS, Fact, Learned, MemoryType, Pool, clean_text
from app.memory.extract.third import Voice, sentence, third_person

if TYPE_CHECKING:
    import re

    from app.memory.extract.clauses import Clause
    from app.memory.extract.language import Grammar, Language, Rule

IMPORTANCE = 0.7


def standing(clause: Clause, language: Language) -> Learned:
    """A standing wish as one statement: "always use tabs" → "The user wants the assistant to …"."""
    told = wish(clause.text, language)
    pool = Pool.PROJECT if language["shared_wish"].search(clause.text) else Pool.USER
    rule, match = _rule(clause.text, language)
    fact = Fact(told, type=MemoryType.PROCEDURAL, importance=IMPORTANCE, lang=language.code)
    if rule is not None and match is not None:
        content = told if rule.says == "{wish}" else rule.says.format(**match.groupdict())
        fact = replace(rule.fact, content=content, slot=rule.slot)
    return Learned(fact=fact, quote=clause.quote[:MAX_QUOTE_CHARS], pool=pool)


def _rule(text: str, language: Language) -> tuple[Rule | None, re.Match[str] | None]:
    for rule in language.standing:
        if (match := rule.match.search(text)) is not None:
            return rule, match
    return None, None


def wish(text: str, language: Language) -> str:
    """An instruction as a statement about the user; a wish in the first person as it is.

    >>> wish("don't use emojis", load("en"))
    'The user wants the assistant to not use emojis.'
    """
    grammar = language.grammar
    if not grammar.pronouns:  # kept as it was said
        return clean_text(sentence(text))
    if language["subject"].match(text):
        return clean_text(sentence(_about_user(text, grammar, known=False)))
    when = language["condition"].match(text)
    condition = f"{when['when']}, " if when else ""
    for pattern, replacement in grammar.rewrites["wishes"]:
        text = pattern.sub(replacement, when["wish"] if when else text, count=1)
        when = None
    told = f"{grammar.names['user']} {grammar.names['wants']} {text[:1].lower()}{text[1:]}"
    return clean_text(sentence(_about_user(condition + told, grammar, known=True)))


def _about_user(text: str, grammar: Grammar, *, known: bool) -> str:
    names = grammar.names
    text = third_person(text, grammar, Voice(names["others"], names["users"]), known=known)
    return " ".join(grammar.assistant.get(word.lower(), word) for word in text.split())
