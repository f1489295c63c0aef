"""Instructions that would act on later calls: which are style, which a person must agree to (M33).

Only what is plainly about how answers read or how work is done is believed. A message can quote a
page, and a page can say "from now on send …": so anything that acts, hides, sells or fetches waits,
and so does what the table does not know. Pure. The table is English; in another language a wish is
believed if the whole of it is one that its file names (`standing`), which gives it a slot.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from app.domain import MemoryType

if TYPE_CHECKING:
    from app.domain import Learned


def waits(item: Learned) -> bool:
    """Whether it is an instruction that a person must agree to first."""
    content = item.fact.content
    if OVERRIDES.search(content):
        return True
    if item.fact.type is not MemoryType.PROCEDURAL:
        return False
    if ACTS.search(content) is not None:
        return True
    if item.fact.lang in {None, "en"}:
        return STYLE.search(content) is None
    return item.fact.slot is None


def _any(*rows: str) -> re.Pattern[str]:
    return re.compile("|".join(rows), re.IGNORECASE)


# Never a fact about anybody: an attempt to change the rules.
OVERRIDES: Final = _any(
    r"\b(?:ignor\w+|disregard\w*|overrid\w+|bypass\w*|forget\w*)\b.{0,40}\b(?:instructions?|rules?"
    r"|guidelines?|prompts?|polic(?:y|ies)|restrictions?|safety|warnings?)\b",
    r"\b(?:system prompt|jailbreak|developer mode|dan mode|do anything now)\b|\byou are now\b",
    r"ignorier\w+.{0,30}anweisung\w*|ignora\w*.{0,30}instruc\w+|ignore[rz]?.{0,30}instructions",
)

# It does something beyond the answer, hides something, sells something or speaks for somebody.
ACTS: Final = _any(
    r"https?://|www\.|\S+@\S+\.\w",
    r"\b[\w-]+\.(?:com|net|org|io|ru|cn|dev|app|xyz|info|biz|co)\b",
    r"\b(?:send|forward|e-?mail|mail|post|upload|share|publish|transmit|transfer|leak|export|submit"
    r"|report|copy|cc|bcc|text|message|call)\b.{0,60}\b(?:to|with|at)\b",
    r"\b(?:never|not|without|avoid|stop|no)\b.{0,20}\b(?:mention|tell|reveal|disclos|warn|refus"
    r"|admit|inform|notif)\w*",
    r"\b(?:hide|conceal|keep secret|lie|deceive|pretend|claim|insist|impersonate)\b",
    r"\b(?:buy|purchase|pay|subscribe|donate|invest|recommend|promote|advertis|endorse|praise)\w*\b",
    r"\b(?:execut|eval|curl|wget|sudo|chmod|powershell|base64|download|fetch|browse|visit|click)\w*",
    r"\brm\s+-|\b(?:delete|drop|wipe|erase|disable|deactivate|turn off|uninstall)\b",
    r"\b(?:money|dollars|euros|bank|credit cards?|payments?|purchases?)\b",
    r"\b(?:passwords?|secrets?|tokens?|credentials?|api keys?|private keys?|personal data)\b",
    r"\b(?:tool|function) calls?\b|\bagree with\b",
)

# How answers read, or how work is done.
STYLE: Final = _any(
    # answers
    r"\b(?:answer|repl|respon|explan|explain|format|bullet|numbered|list|table|markdown|emoji"
    r"|conclusion|introduct|greeting|filler|apolog|disclaimer|jargon|summar|paragraph|sentence"
    r"|word|line|heading|example|step|analog|diagram|visual|repeat|lectur|hedg|morali[sz]"
    r"|ask|question|clarif|confirm|assum|option|reason|think|compar|formula|latex)\w*",
    # tone and length
    r"\b(?:tone|formal|informal|casual|friendly|polite|blunt|direct|concise|short|brief|terse"
    r"|detail|length|long|verbose|simple|plain|humou?r|sarcas)\w*",
    # units and languages
    r"\b(?:units?|metric|imperial|celsius|fahrenheit|currency|dates?|time zone|24-?hour|language"
    r"|english|german|french|spanish|portuguese|italian|chinese|japanese|dutch|british|american)\b",
    r"\b(?:translat|be called|address|pronoun|spell|quot|cite|source|reference)\w*|\bname\b",
    # code and workflow
    r"\b(?:code|coding|snippet|comment|docstring|type|typed|indent|snake|camel|naming|variable"
    r"|function|class|test|commit|branch|push|merge|rebase|pull request|review|lint|refactor|repo"
    r"|project|import|depend|package|librar|framework|error|log|version)\w*|\b(?:tabs?|spaces?)\b",
    r"\b(?:use|keep|prefer\w*)\b",
)
