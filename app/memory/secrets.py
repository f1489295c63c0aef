"""Finds secrets in a text and masks them: by format, and said in words (M32). In doubt it masks.

The tables are our own (`secret_formats`, `secret_words`), after measuring what exists: see
docs/architecture.md, "Secrets". Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from app.memory import secret_formats as formats
from app.memory import secret_words as words

MASK: Final = "[secret]"
# Longer texts are cut: no statement, quote or excerpt comes from beyond (MAX_CONTENT_BYTES).
MAX_CHARS: Final = 16_000


@dataclass(frozen=True, slots=True)
class Masked:
    """A text with every secret replaced, and the kinds that were found, each once, sorted."""

    text: str = field(repr=False)
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Secret:
    """A kind of secret: its regex (group `secret`, else all of it) and a check on what it found."""

    kind: str
    regex: re.Pattern[str]
    check: Callable[[str], bool] = bool


def _row(kind: str, regex: str, check: Callable[[str], bool] = bool) -> Secret:
    return Secret(kind, re.compile(regex, re.IGNORECASE), check)


def _exact(kind: str, regex: str, check: Callable[[str], bool] = bool) -> Secret:
    return Secret(kind, re.compile(regex), check)


# In order: what an earlier row has hidden, a later one does not see.
SECRETS: Final = (
    _exact("private_key", formats.PEM),
    _exact("api_key", formats.KNOWN),
    _row("api_key", formats.BEARER),
    _row("url_credentials", formats.URL),
    _row("password", formats.ASSIGNED),
    _row("password", words.said(words.PASSWORDS, words.DIGITS)),
    _row("password", words.said(words.PHRASES, words.PHRASE)),
    _row("password", words.said(words.PASSWORDS, words.WORD)),
    _row("password", words.said(words.KEYS, words.WITH_DIGIT)),
    _row("password", words.BEFORE),
    _row("password", words.NAMED),
    _row("password", words.CHANGED),
    _exact("password", words.CJK),
    _exact("password", words.CJK_CHANGED),
    _exact("password", words.CJK_BEFORE),
    _row("code", words.said(words.CODES, words.DIGITS_AND_LETTERS)),
    _row("code", words.NAMED_CODE),
    _exact("card", formats.CARD, formats.luhn),
    _exact("iban", formats.IBAN, formats.iban),
    _row("national_id", formats.SSN),
    _row("national_id", formats.DOCUMENT),
    _exact("api_key", formats.RUN, formats.drawn),
    _row("api_key", formats.NAMED_RUN, formats.drawn_or_hash),
)


def mask(text: str) -> Masked:
    """The text with every secret replaced by `[secret]`; idempotent.

    >>> mask("my PIN is 1234").text
    'my PIN is [secret]'
    """
    kinds: set[str] = set()
    text = text[:MAX_CHARS]
    for secret in SECRETS:

        def hidden(match: re.Match[str], secret: Secret = secret) -> str:
            value = match["secret"] if "secret" in secret.regex.groupindex else match[0]
            if value == MASK or MASK in value or not secret.check(value):
                return match[0]
            kinds.add(secret.kind)
            return match[0].replace(value, MASK)

        text = secret.regex.sub(hidden, text)
    return Masked(text, tuple(sorted(kinds)))
