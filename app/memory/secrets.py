"""Finds secrets in a text: by format, and said in words, in several languages (M32).

A compact table of our own: formats as detect-secrets and gitleaks know them, and what those do not
look for, a PIN, a password or a code that somebody says in a sentence. In doubt it masks. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

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


def luhn(digits: str) -> bool:
    """Whether the digits of a number carry the check digit of a payment card."""
    numbers = [int(digit) for digit in reversed(digits) if digit.isdecimal()]
    doubled = [sum(divmod(2 * number, 10)) for number in numbers[1::2]]
    return len(numbers) >= 13 and (sum(numbers[::2]) + sum(doubled)) % 10 == 0  # noqa: PLR2004


def iban(text: str) -> bool:
    """Whether an account number carries its check digits (ISO 7064, mod 97)."""
    plain = text.replace(" ", "")
    moved = plain[4:] + plain[:4]
    return len(plain) >= 15 and int("".join(str(int(c, 36)) for c in moved)) % 97 == 1  # noqa: PLR2004


def mixed(text: str) -> bool:
    """Whether a long token looks drawn at random: small and capital letters and several digits."""
    digits = sum(c.isdecimal() for c in text)
    letters = any(c.islower() for c in text) and any(c.isupper() for c in text)
    return letters and digits >= 4 and len(set(text)) >= 16  # noqa: PLR2004


def _any(*rows: str) -> str:
    return "(?:" + "|".join(rows) + ")"


# What a secret is called, in the languages whose turns we keep as episodes.
_WORDS_FOR_IT: Final = _any(
    r"pass ?(?:word|code|phrase)s?|pwd|pw|pins?(?: ?(?:code|number))?|cvv|cvc2?|login code",
    r"(?:secret|private|api|access|encryption|recovery|licen[sc]e|wifi|network|security|seed)"
    r"[ -]?(?:keys?|phrases?)",
    r"(?:api|access|auth|bearer|refresh|bot|session|secret) ?tokens?|seed (?:words|phrase)",
    r"passwort|kennwort|geheimzahl|contraseñas?|clave(?: secreta)?|mot de passe|code secret",
    r"senha|palavra-passe|wachtwoord|parola|hasło|пароль|пин-код|密码|密碼|口令|パスワード",
    r"暗証番号|비밀번호",
)
_CODE: Final = _any(
    r"(?:alarm|door|gate|garage|lock|lockbox|safe|entry|access|security|unlock|building|vault"
    r"|key ?pad|voicemail|verification|otp|2fa|one[- ]time|auth\w*|confirmation|sms|backup|locker"
    r"|house|phone|login|sign[- ]in|card|bank|combination|reset|activation)(?:'s)?(?: \w+)? "
    r"(?:codes?|combinations?)",
    r"(?:codes?|combinations?|pin|number) (?:to|for|of|on) (?:the|my|our|his|her|their) "
    r"[\w' -]{2,40}?",
    r"otp|2fa|totp|(?<=your )code|(?<=my )code|(?<=the )combination",
)
_IS: Final = (
    r"(?:\s*(?:=|:|->|=>|：)\s*|['’]s\s+|\s*(?:是|は|为|為|은|는)\s*"
    r"|\s+(?:is|are|was|be|ist|lautet|es|est|é|eh|jest|to|as|=):?\s+)"
)
_STILL: Final = r"(?:(?:now|still|currently|just|simply|set to|called|again|also|jetzt|ahora)\s+)*"
# What follows "the password is" when none is given away.
_NOT_ONE: Final = (
    r"(?!(?:too|not|no|required|needed|wrong|incorrect|invalid|weak|strong|expired|stored|hashed"
    r"|saved|encrypted|the|an?|in|on|being|never|always|very|so|really|hard|easy|long|short|missing"
    r"|empty|lost|correct|right|safe|secure|that|what|where|how|when|if|for|to|from|my|your|our|his"
    r"|her|their|it|this|kept|checked|sent|rotated|changed|reset|used|managed|different|unique|good"
    r"|bad|ok|okay|fine|gone|working|and|or|but|of|with|by|at|optional|mandatory|something"
    r"|somewhere|\[secret\])(?![\w'-]))"
)
_WORD: Final = r"[^\s,;。，；]{3,100}?(?=[.!?]?(?:[\s,;。，；]|$))"
_DIGIT_WORD: Final = r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)"
_DIGITS: Final = rf"#?\d(?:[ -]?[\d#*]){{2,11}}|(?:{_DIGIT_WORD}[ -]?){{3,12}}"

_PEM: Final = (
    r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?"
    r"(?:-----END [A-Z0-9 ]{0,40}-----|\Z)|PuTTY-User-Key-File-\d[\s\S]*"
)
_DIGIT_AHEAD: Final = r"(?=[\w-]{0,200}\d)"
_TOKENS: Final = _any(
    r"(?:AKIA|ASIA|ABIA|ACCA|AGPA|AROA)[0-9A-Z]{16}",  # AWS
    r"gh[pousr]_\w{30,255}|github_pat_\w{22,255}",  # GitHub
    r"gl(?:pat|dt|ft|rt|ptt|soat|imt|cbt|agent)-[\w-]{20,}",  # GitLab
    # OpenAI, Anthropic, Stripe, ours and many more
    rf"(?:sk|pk|rk|remora|rem|rmr)[-_]{_DIGIT_AHEAD}[\w-]{{16,}}",
    r"xox[abeoprs]-[\w-]{10,}|xapp-[\w-]{20,}",  # Slack
    r"https://hooks\.slack\.com/services/[\w/]{20,}",
    r"AIza[\w-]{30,}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}",  # Google
    # Hugging Face, Groq, Replicate, npm, Databricks, DigitalOcean, Shopify, Linear …
    r"(?:hf|gsk|r8|npm|dapi|dop_v1|doo_v1|shpat|shpss|lin_api|ntn|pplx|tvly|nvapi|xai|fw|csk)"
    rf"[-_]{_DIGIT_AHEAD}[\w-]{{20,}}",
    r"pypi-[\w-]{40,}|SG\.[\w-]{16,}\.[\w-]{16,}|key-[0-9a-f]{32}",  # PyPI, SendGrid, Mailgun
    r"(?:AC|SK)[0-9a-f]{32}|\d{8,10}:AA[\w-]{33}",  # Twilio, Telegram
    r"[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}",  # Discord
    r"sq0[a-z]{3}-[\w-]{22,}|EAAA[\w-]{40,}",  # Square
    r"AccountKey=[\w+/]{40,}={0,2}|AGE-SECRET-KEY-1\w{50,}",  # Azure, age
    r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?",  # JSON web token
)
_ASSIGNED: Final = (
    r"[\w.-]{0,40}(?:api[_-]?key|secret|token|passw(?:or)?d|passwd|pwd|\bpw|passcode|passphrase|private[_-]?key"
    r"|access[_-]?key|credential)[\w-]{0,20}[\"']?\s{0,3}(?:=|:=|=>|:)\s{0,3}[\"']?"
    r"(?P<secret>(?![<${*%]|x{3}|your|none|null|true|false|os\.|env|process)[^\s\"',;]{6,200})"
)


def _said(names: str, value: str) -> str:
    """A secret named in a sentence: "my … (for the …) is …"."""
    of = r"(?:\s(?:to|for|of|on|für|de|del|da|pour|para)\s[\w'’ -]{2,40}?)?"
    return rf"(?<![A-Za-z0-9_-])(?:{names}){of}{_IS}{_STILL}[\"'“‘`]?(?P<secret>{value})"


def _row(kind: str, regex: str, check: Callable[[str], bool] = bool, flags: int = 0) -> Secret:
    return Secret(kind, re.compile(regex, flags), check)


_ANY_CASE: Final = re.IGNORECASE
_GIVEN: Final = r"(?P<secret>(?=\S{0,60}\d)[^\s,;.]{4,60})"
_BEFORE: Final = (
    r"(?<!\S)(?P<secret>(?=\S{0,60}\d)[^\s,;]{4,60})\s+(?:is|as|for)\s+(?:my|the|our)\s+"
    rf"(?:[\w-]+\s+){{0,3}}?(?:{_WORDS_FOR_IT}|(?:[\w-]+ )?code)(?!\w)"
)
_PHRASE_NAMES: Final = r"pass ?phrases?|seed (?:phrase|words)|recovery phrases?"
_URL: Final = r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,80}:(?P<secret>[^\s/@]{1,80})@"
_IBAN: Final = r"\b(?P<secret>[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?)\b"
_CARD: Final = r"(?<![\w.-])(?P<secret>[2-6]\d{3}(?:[ -]?\d){8,15})(?![\w-]|\.\d)"
_SSN: Final = (
    r"\b(?:ssn|social security(?: number)?)\W{0,3}(?:is\s+)?(?P<secret>\d{3}-?\d\d-?\d{4})\b"
)
_DOCUMENT: Final = (
    r"\b(?:passport|driver'?s licen[sc]e|driving licen[sc]e|identity card|national id|tax id)"
    r"(?: (?:number|no\.?|id))?\W{0,3}(?:is\s+)?(?P<secret>(?=\w{0,12}\d)[A-Z0-9]{6,14})\b"
)
_RANDOM: Final = r"(?<![\w/.+-])(?P<secret>[A-Za-z0-9+/_-]{28,200}={0,2})(?![\w/.+-])"
_NAMED_CODE: Final = (
    rf"(?<![\w-])(?:{_CODE}|pass ?codes?|pins?(?: code| number)?|passw(?:or)?d|pw|passwort)\s+"
    r"(?P<secret>\d[\d-]{3,9})(?!\w)"
)
_NAMED: Final = rf"(?<![\w-])(?:my|our|the)\s+(?:[\w-]+\s+)?(?:{_WORDS_FOR_IT})\s+{_GIVEN}"

# In order: what an earlier row has hidden, a later one does not see.
SECRETS: Final = (
    _row("private_key", _PEM),
    _row("api_key", rf"(?<![\w-])(?:{_TOKENS})"),
    _row("api_key", r"\bBearer\s+(?P<secret>[\w.~+/-]{16,}=*)", flags=_ANY_CASE),
    _row("url_credentials", _URL, flags=_ANY_CASE),
    _row("password", _ASSIGNED, flags=_ANY_CASE),
    _row("password", _said(_WORDS_FOR_IT, _DIGITS), flags=_ANY_CASE),
    _row("password", _said(_PHRASE_NAMES, r"[^.!?\n]{4,200}"), flags=_ANY_CASE),
    _row("password", _said(_WORDS_FOR_IT, _NOT_ONE + _WORD), flags=_ANY_CASE),
    _row("password", _BEFORE, flags=_ANY_CASE),
    _row("password", _NAMED, flags=_ANY_CASE),
    _row("code", _said(_CODE, _DIGITS), flags=_ANY_CASE),
    _row("code", _NAMED_CODE, flags=_ANY_CASE),
    _row("card", _CARD, luhn),
    _row("iban", _IBAN, iban),
    _row("national_id", _SSN, flags=_ANY_CASE),
    _row("national_id", _DOCUMENT, flags=_ANY_CASE),
    _row("api_key", _RANDOM, mixed),
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
