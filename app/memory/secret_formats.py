"""Secrets by their format: keys and tokens, cards, account and identity numbers (M32). Pure.

A key is told by how random it looks, not by who issued it: that finds the next provider's, too.
Named are only those that are short, hold no digit, or look like something harmless (a hash, an id).
"""

from __future__ import annotations

import re
from typing import Final

_SEPARATOR: Final = re.compile(r"[^A-Za-z0-9]+")
_HEX: Final = re.compile(r"[0-9a-f]{16,}|[0-9A-F]{16,}")
_KIND: Final = str.maketrans(
    {
        **dict.fromkeys("0123456789", "0"),
        **dict.fromkeys("abcdefghijklmnopqrstuvwxyz", "a"),
        **dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "A"),
    }
)
MIN_LENGTH: Final = 16
MIN_DIGITS: Final = 3
_RUN_OF_A_KIND: Final = re.compile(r"0+|a+|A+")


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


def drawn(token: str) -> bool:
    """Whether a token holds a long piece that looks drawn at random.

    Letters and digits take turns in it too often for a word or a name. A bare hash is harmless.
    """
    pieces = _SEPARATOR.split(token)
    if _HEX.fullmatch("".join(pieces)):
        return False
    return any(_random(piece) for piece in pieces) or _random(*pieces)


def drawn_or_hash(token: str) -> bool:
    """The same where the words around it say that it is a key: then a hash or a UUID is one."""
    return drawn(token) or _HEX.fullmatch(token.replace("-", "")) is not None


def _random(*pieces: str) -> bool:
    length = sum(map(len, pieces))
    if length < MIN_LENGTH:
        return False
    kinds = [piece.translate(_KIND) for piece in pieces]
    digits = sum(kind.count("0") for kind in kinds)
    turns = sum(len(_RUN_OF_A_KIND.findall(kind)) - 1 for kind in kinds if kind)
    return MIN_DIGITS <= digits <= length - MIN_DIGITS and 4 * turns >= length


PEM: Final = (
    r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?"
    r"(?:-----END [A-Z0-9 ]{0,40}-----|\Z)|PuTTY-User-Key-File-\d[\s\S]*"
)
_DIGIT_AHEAD: Final = r"(?=[\w-]{0,200}\d)"
KNOWN: Final = r"(?<![\w-])(?:" + "|".join(
    (
        r"(?:AKIA|ASIA|ABIA|ACCA|AGPA|AROA)[0-9A-Z]{16}",  # AWS
        # OpenAI, Anthropic, Stripe, ours and many more
        rf"(?:sk|pk|rk|remora|rem|rmr)[-_]{_DIGIT_AHEAD}[\w-]{{16,}}",
        r"xox[abcdeoprs]-[\w-]{10,}|xapp-[\w-]{20,}",  # Slack
        r"https://(?:hooks\.slack\.com/services|discord(?:app)?\.com/api/webhooks)/[\w/-]{20,}",
        r"https://[\w-]+\.webhook\.office\.com/webhookb2/[\w/@-]{20,}",
        r"AIza[\w-]{30,}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}",  # Google
        # letters only, or hexadecimal after a prefix
        r"(?:hf|api_org|gh[pousr]|github_pat|npm|dckr_pat)_\w{20,255}",
        r"(?:gl[a-z]{2,6}|pypi|dapi|pul|key|nfp|tskey|wrka|incoming)-[\w.-]{20,}|dapi[0-9a-f]{32}",
        # ddo_…, sbp_…, dop_v1_…, packagist_ort_…: any short prefix before a hash
        r"[a-z]{2,12}(?:_[a-z0-9]{1,8}){0,2}[_-][0-9a-f]{28,}(?:[_-]\w+)*",
        # nfp_…, whsec_…: or before letters of both cases with a digit
        r"[a-z][a-z0-9]{1,9}_(?=\w*\d)(?=\w*[a-z])(?=\w*[A-Z])[A-Za-z0-9]{24,}(?:_\w+)*",
        r"(?:AC|SK)[0-9a-f]{32}|\d{8,10}:AA[\w-]{33}|[0-9a-f]{32}-us\d\d?",  # Twilio, Telegram …
        r"SG\.[\w=-]{16,}\.[\w.=-]{16,}|NRAK-[A-Z0-9]{27}|BSA[\w-]{28}|A3(?:-[A-Z0-9]{5,6}){5,6}",
        r"AccountKey=[\w+/]{40,}={0,2}|AGE-SECRET-KEY-1\w{50,}|FLWSECK\w*-\w{12,}",
        r"(?:sm_[a-z]at|dvc_(?:client|server)|unkey)_\w{16,}",
        r"\d{12,18}[|%][\w-]{27,}|[0-9a-f]{32}\.\w{16,}",  # Facebook, keys with an id before
        r"eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?",  # JSON web token
    )
) + ")"  # fmt: skip
BEARER: Final = r"\b(?:Bearer|Basic)\s+(?P<secret>(?=\S*\d)[\w.~+/-]{16,}=*)"
# Any run of what keys are made of; `drawn` decides. Not the path of an address or a file.
RUN: Final = r"(?<![\w/.+=%@:-])(?P<secret>[A-Za-z0-9][\w.~+=/-]{18,400}[\w=])(?![\w/+])"
_NAMED: Final = r"(?:key|token|secret|credential|password|auth|access|api|pat|client[ _-]?id)s?"
NAMED_RUN: Final = (
    rf"{_NAMED}\b[^\n]{{0,40}}?(?<![\w/.])(?P<secret>(?=[\w-]*\d)[\w.~+=-]{{16,400}})(?![\w/])"
)
ASSIGNED: Final = (
    r"[\w.-]{0,40}(?:api[_-]?key|secret|token|passw(?:or)?d|passwd|pwd|\bpw|passcode|passphrase"
    r"|private[_-]?key|access[_-]?key|credential)[\w-]{0,20}[\"']?\s{0,3}(?:=|:=|=>|:)\s{0,3}"
    r"[\"']?(?P<secret>(?![<${*%]|x{3}|your|none|null|true|false|os\.|env|process)"
    r"[^\s\"',;]{6,200})"
)
URL: Final = r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,80}:(?P<secret>[^\s@]{1,80})@"
IBAN: Final = r"\b(?P<secret>[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?)\b"
CARD: Final = r"(?<![\w.-])(?P<secret>[2-6]\d{3}(?:[ -]?\d){8,15})(?![\w-]|\.\d)"
SSN: Final = (
    r"\b(?:ssn|social security(?: number)?)\W{0,3}(?:is\s+)?(?P<secret>\d{3}-?\d\d-?\d{4})\b"
)
DOCUMENT: Final = (
    r"\b(?:passport|driver'?s licen[sc]e|driving licen[sc]e|identity card|national id|tax id)"
    r"(?: (?:number|no\.?|id))?\W{0,3}(?:is\s+)?(?P<secret>(?=\w{0,12}\d)[A-Z0-9]{6,14})\b"
)
