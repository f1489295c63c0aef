"""What to search for: which turns need no memory at all, and what a leaning turn leans on. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from app.domain import Call

# Whole turns that need no memory (M13), folded: lower case, letters only, single spaces.
SMALL_TALK: Final = frozenset(
    phrase
    for line in (
        # English
        "hi|hello|hey|hey there|hi there|hello there|good morning|good afternoon|good evening",
        "good night|thanks|thank you|thank you so much|thanks a lot|thx|ty|ok|okay|k|cool|great",
        "nice|perfect|awesome|got it|i see|sure|yes|yep|yeah|no|nope|please|go on|continue|next",
        "bye|goodbye|see you|cheers|sounds good|understood|test|ping|lol|haha|hm|hmm|wow|done",
        # German
        "hallo|guten morgen|guten tag|guten abend|danke|vielen dank|danke schön|ja|nein|weiter",
        "alles klar|verstanden|tschüss|super|genau|bitte|servus|moin",
        # Spanish
        "hola|buenos días|buenas tardes|buenas noches|gracias|muchas gracias|sí|vale|de acuerdo",
        "adiós|entendido|perfecto|genial|claro|continúa|sigue",
        # French
        "bonjour|bonsoir|salut|coucou|merci|merci beaucoup|oui|non|d accord|au revoir|compris",
        "parfait|super merci|continue s il te plaît",
        # Portuguese
        "olá|oi|bom dia|boa tarde|boa noite|obrigado|obrigada|muito obrigado|muito obrigada|sim",
        "não|tá bom|tchau|entendi|perfeito|beleza",
        # Chinese
        "你好|您好|早上好|晚上好|谢谢|谢谢你|多谢|好的|好|嗯|是的|不是|再见|明白|明白了|继续",
        # Japanese
        "こんにちは|おはよう|おはようございます|こんばんは|ありがとう|ありがとうございます|はい|いいえ",
        "了解|了解です|わかりました|さようなら|続けて",
    )
    for phrase in line.split("|")
)
# Words that point back: such a turn is searched for together with the one before it (M14).
_LEANING: Final = re.compile(
    r"\b(it|its|that|those|these|this|them|they|he|she|him|her|one|there|then|same|else|also|too"
    r"|and|instead|again)\b",
    re.IGNORECASE,
)
_FOLD: Final = re.compile(r"[\W\d_]+")
_LETTER: Final = re.compile(r"[^\W\d_]")
LONGEST_SMALL_TALK: Final = 60
# Turns of so few words lean on the one before; so do longer ones that point back.
ALWAYS_LEANING: Final = 2
MAY_LEAN: Final = 12
HEAD_CHARS: Final = 600
SUBJECT_WORDS: Final = 5
_CAPITAL: Final = re.compile(r"(?<![\w'])[A-ZÀ-ÖØ-Þ][\w-]*")
_OPENING: Final = re.compile(r"\W*([A-ZÀ-ÖØ-Þ][\w-]*)")
TAIL_CHARS: Final = 1_000


def is_small_talk(text: str) -> bool:
    """Whether a turn needs no memory: empty, symbols, a greeting, thanks, an acknowledgement."""
    if _LETTER.search(text) is None:
        return True
    if len(text) > LONGEST_SMALL_TALK:
        return False
    return _FOLD.sub(" ", text).strip().casefold() in SMALL_TALK


def build_query(call: Call) -> str:
    """The text to search for: the turn, with the user's turn before it where it leans on that.

    Or what a model made of both, if one was asked.
    """
    if call.turn and call.turn.rewritten:
        return call.turn.rewritten
    text = _shortened(call.query)
    if not _leans(call.query):
        return text
    before = [message.text for message in call.recent if message.role == "user"]
    return f"{_shortened(before[-1])}\n{text}" if before else text


def names(text: str) -> frozenset[str]:
    """The people and things that a question names: words with a capital, but for its first.

    >>> sorted(names("When did Maria go to Porto?"))
    ['maria', 'porto']
    """
    words = _CAPITAL.findall(text[:HEAD_CHARS])
    opening = _OPENING.match(text)
    plain = {opening[1]} if opening else set()
    return frozenset(word.casefold() for word in words if word not in plain and len(word) > 1)


def is_about(content: str, people: frozenset[str]) -> bool:
    """Whether a memory speaks of one of them at its head: there a statement has its subject."""
    head = content.split(maxsplit=SUBJECT_WORDS)[:SUBJECT_WORDS]
    return any(word.strip(".,:;!?\"'()").removesuffix("'s").casefold() in people for word in head)


def _leans(text: str) -> bool:
    words = len(text.split())
    return words <= ALWAYS_LEANING or (words <= MAY_LEAN and _LEANING.search(text) is not None)


def _shortened(text: str) -> str:
    """A long turn asks at its head or at its end; what lies between is material."""
    if len(text) <= HEAD_CHARS + TAIL_CHARS:
        return text
    return f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"
