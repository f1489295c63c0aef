"""From the first person to the third: "I've moved to my flat" → "The user has moved to their flat".

The words are data (`Grammar`); the verb's ending is English. A language without a grammar keeps its
statements as they were said. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.memory.script import CJK

if TYPE_CHECKING:
    from app.memory.extract.language import Grammar

# "my wife and I": two people, so the verb stays plain
_COUPLED: Final = re.compile(r"(?:^|[,;.] )(?!i\b)\S+(?: (?!i\b)\S+){0,2},? and $", re.IGNORECASE)
_ES: Final = re.compile(r"(?:s|x|z|ch|sh|o)$")
_PLAIN_ED: Final = re.compile(
    r"^(?:need|w?eed|heed|.*(?:feed|speed|breed|bleed|seed|ceed|embed)|shed|be?shed|wa?tershed)$"
)
_CONSONANT_Y: Final = re.compile(r"[^aeiou]y$")


@dataclass(frozen=True, slots=True)
class Voice:
    """Who "we" are in a statement; `plural` subjects take the plain verb."""

    subject: str
    possessive: str
    plural: bool = False


def third_person(text: str, grammar: Grammar, group: Voice, *, known: bool = False) -> str:
    """The clause about the user; `known`: they were named before, so a pronoun is enough."""
    if not grammar.pronouns:
        return text
    return _Rewriter(grammar, group, known=known).rewritten(text)


def sentence(text: str) -> str:
    """A clause as a sentence: a capital, one full stop, no space to spare."""
    text = " ".join(text.split()).strip(" ,;:–—-，；：、")
    if not text:
        return ""
    stop = "。" if CJK.match(text[-1]) else "."
    return text[0].upper() + text[1:] + ("" if text[-1] in ".!?。！？" else stop)


def conjugated(verb: str, grammar: Grammar) -> str:
    """A plain English verb in the third person; a past or modal one stays."""
    low = verb.lower()
    if low in grammar.auxiliaries:
        return grammar.auxiliaries[low]
    if low in grammar.unchanged or (low.endswith("ed") and not _PLAIN_ED.search(low)):
        return verb
    if _CONSONANT_Y.search(low):
        return verb[:-1] + "ies"
    return verb + ("es" if _ES.search(low) else "s")


class _Rewriter:
    """One pass over one text; the first mention names the user, later ones are pronouns."""

    def __init__(self, grammar: Grammar, group: Voice, *, known: bool) -> None:
        self._grammar = grammar
        names = grammar.names
        self._voices = {"i": Voice(names["user"], names["users"]), "we": group}
        self._known = known

    def rewritten(self, text: str) -> str:
        return self._grammar.speaker.sub(self._replaced, text)

    def _replaced(self, match: re.Match[str]) -> str:
        if match["pronoun"]:
            return self._pronoun(match["pronoun"].lower())
        voice = self._voices.get(match["who"].lower())
        if voice is None:  # a letter that only folds to one of ours, a Turkish İ say
            return match[0]
        joined = _COUPLED.search(match.string[: match.start()]) is not None
        later = self._known and not joined
        self._known = True
        subject = self._grammar.names["they"] if later else voice.subject
        plural = later or joined or voice.plural
        return subject + self._verb(match, plural=plural)

    def _verb(self, match: re.Match[str], *, plural: bool) -> str:
        clitic, adverbs, verb = match["clitic"], match["adverbs"], match["verb"] or ""
        forms = self._grammar.plural if plural else self._grammar.auxiliaries
        if clitic:
            return f" {forms.get(clitic.lower(), clitic.lower())}{adverbs}{verb}"
        said = verb.strip()
        if not said:
            return adverbs
        changed = forms.get(said.lower(), said) if plural else conjugated(said, self._grammar)
        return f"{adverbs} {changed}"

    def _pronoun(self, word: str) -> str:
        possessive = word in {"my", "our"}
        if self._known:
            return self._grammar.pronouns[word]
        self._known = True
        voice = self._voices["i" if word.startswith("m") else "we"]
        if possessive:
            return voice.possessive
        objects = {"me", "us", "mine", "ours"}
        return voice.subject if word in objects else self._grammar.pronouns[word]
