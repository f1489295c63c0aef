"""What may be stored of what was learned, whatever the extractor: no secret, no planted order. Pure.

A fact with a secret is dropped, an episode keeps its text without it (M32). An instruction that
would act on later calls is only believed if it is about style or workflow; anything else waits for a
person (M33).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from app.domain import MAX_QUOTE_CHARS, MemoryType, State, clean_text
from app.memory.secrets import mask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.domain import Learned

# Facts of one turn (M34); a person says fewer, a flood is an attack or a paste.
MAX_FACTS: Final = 20
TOO_MANY: Final = "too_many"


@dataclass(frozen=True, slots=True)
class Guarded:
    """What is left: `kept` may be stored, each in its state; `blocked` are kinds, each once."""

    kept: tuple[Learned, ...]
    blocked: tuple[str, ...] = ()


def guard(learned: Sequence[Learned], said: str = "", *, limit: int = MAX_FACTS) -> Guarded:
    """The facts of one turn without secrets and beyond `limit`; `said` is the user's text.

    Secrets in `said` are counted even where no fact came of them.
    """
    blocked = set(mask(said).kinds)
    kept: list[Learned] = []
    for item in learned:
        clean, kinds = _without_secrets(item)
        blocked.update(kinds)
        if clean is not None:
            kept.append(_pending(clean) if waits(clean) else clean)
    if len(kept) > limit:
        blocked.add(TOO_MANY)
        kept = _most_important(kept, limit)
    return Guarded(tuple(kept), tuple(sorted(blocked)))


def _pending(item: Learned) -> Learned:
    """It waits, and meanwhile neither fills a slot that is in use nor stands in every prompt."""
    return replace(item, state=State.PENDING, fact=replace(item.fact, slot=None, pinned=False))


def _without_secrets(item: Learned) -> tuple[Learned | None, tuple[str, ...]]:
    content, quote = mask(item.fact.content), mask(item.quote)
    kinds = (*content.kinds, *quote.kinds)
    text = clean_text(content.text)
    if not text or (kinds and item.fact.type is not MemoryType.EPISODIC):
        return None, kinds
    fact = replace(item.fact, content=text)
    return replace(item, fact=fact, quote=quote.text[:MAX_QUOTE_CHARS]), kinds


def _most_important(items: list[Learned], limit: int) -> list[Learned]:
    """The `limit` most important ones, in the order they came."""
    ranked = sorted(range(len(items)), key=lambda place: -items[place].fact.importance)
    return [items[place] for place in sorted(ranked[:limit])]


def waits(item: Learned) -> bool:
    """Whether it is an instruction that a person must agree to first."""
    content = item.fact.content
    if _OVERRIDE.search(content):
        return True
    if item.fact.type is not MemoryType.PROCEDURAL:
        return False
    return _ACTS.search(content) is not None or _STYLE.search(content) is None


# Never a fact about anybody: an attempt to change the rules.
_OVERRIDE: Final = re.compile(
    r"\b(?:ignor\w+|disregard\w*|overrid\w+|bypass\w*|forget\w*)\b.{0,40}\b(?:instructions?|rules?"
    r"|guidelines?|prompts?|polic(?:y|ies)|restrictions?|safety|warnings?)\b"
    r"|\b(?:system prompt|jailbreak|developer mode|dan mode|do anything now)\b|you are now\b"
    r"|ignorier\w+.{0,30}anweisung\w*|ignora\w*.{0,30}instruc\w+|ignore[rz]?.{0,30}instructions",
    re.IGNORECASE,
)
# It does something outside the answer, hides something, or speaks for somebody.
_ACTS: Final = re.compile(
    r"https?://|www\.|\b[\w-]+\.(?:com|net|org|io|ru|cn|dev|app|xyz|info|biz|co)\b|\S+@\S+\.\w"
    r"|\b(?:send|forward|e-?mail|mail|post|upload|share|publish|transmit|transfer|leak|export|submit"
    r"|report|copy|cc|bcc|text|message|call)\b.{0,60}\b(?:to|with|at)\b"
    r"|\b(?:never|not|n't|without|avoid|stop|no)\b.{0,20}\b(?:mention|tell|reveal|disclos|warn|refus"
    r"|admit|inform|notif)\w*"
    r"|\b(?:hide|conceal|keep secret|lie|deceive|pretend|claim|insist|impersonate)\b"
    r"|\b(?:buy|purchase|pay|subscribe|donate|invest|recommend|promote|advertis|endorse|praise)\w*\b"
    r"|\b(?:execut|eval|curl|wget|sudo|chmod|powershell|base64|download|fetch|browse|visit|click)\w*\b"
    r"|\b(?:money|dollars|euros|bank|credit cards?|payments?|purchases?)\b|\brm\s+-|\b(?:delete|drop|wipe|erase|disable|deactivate|turn off|uninstall)\b"
    r"|\b(?:passwords?|secrets?|tokens?|credentials?|api keys?|private keys?|personal data)\b"
    r"|\b(?:tool|function) calls?\b|\bagree with\b",
    re.IGNORECASE,
)
# About how answers read or how work is done.
_STYLE: Final = re.compile(
    r"\b(?:answer|repl|respon|explan|explain|format|bullet|numbered|list|table|markdown|emoji|tone"
    r"|formal|informal|casual|friendly|polite|blunt|direct|concise|short|brief|terse|detail|length"
    r"|long|verbose|simple|plain|word|sentence|paragraph|line|heading|summar|example|step|analog"
    r"|diagram|visual|jargon|disclaimer|apolog|filler|greeting|introduct|conclusion|repeat|lectur|hedg"
    r"|morali[sz]|humou?r|sarcas|units?\b|metric|imperial|celsius|fahrenheit|currency|date|time zone|hour"
    r"|language|english|german|french|spanish|portuguese|italian|chinese|japanese|dutch|british"
    r"|american|translat|be called|address|pronoun|name\b|spell|quot|cite|source|reference|version"
    r"|code|coding|snippet|comment|docstring|type|typed|tabs?\b|spaces?\b|indent|snake|camel|naming"
    r"|variable|function|class|test|commit|branch|push|merge|rebase|pull request|review|lint|refactor"
    r"|repo|project|import|depend|package|librar|framework|error|log|ask|question|clarif|confirm"
    r"|assum|option|reason|think|chain|compar|formula|math|latex|use\b|prefer|keep\b)\w*",
    re.IGNORECASE,
)
