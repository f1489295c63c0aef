"""What a sentence is for: only a statement, a plan or a standing wish is learned. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from app.memory.extract.language import Language


class Kind(StrEnum):
    """What a sentence does."""

    STATEMENT = "statement"
    PLAN = "plan"
    STANDING = "standing"
    STYLE = "style"
    QUESTION = "question"
    COMMAND = "command"
    HYPOTHETICAL = "hypothetical"
    GREETING = "greeting"
    EXCLAMATION = "exclamation"
    SYSTEM = "system"
    ROLE_PLAY = "role_play"


# The first kind that matches wins. STYLE is a wish about answers without "always".
_ORDER: Final = (
    (Kind.SYSTEM, "system"),
    (Kind.ROLE_PLAY, "role_play"),
    (Kind.STANDING, "standing"),
    (Kind.STYLE, "style_request"),
    (Kind.HYPOTHETICAL, "hypothetical"),
    (Kind.GREETING, "greeting"),
    (Kind.COMMAND, "command"),
    (Kind.QUESTION, "question"),
    (Kind.EXCLAMATION, "exclamation"),
)
LEARNED: Final = frozenset({Kind.STATEMENT, Kind.PLAN, Kind.EXCLAMATION})


def classify(text: str, language: Language) -> Kind:
    """The kind of a sentence; it may have lead-ins and its final stop, or be a bare clause.

    >>> classify("Could you fix the tests?", load("en"))
    <Kind.COMMAND: 'command'>
    """
    bare = text.rstrip(".! 。！")
    for kind, name in _ORDER:
        if language[name].search(bare):
            return kind
    if is_future(text, language) and language["dated"].search(text):
        return Kind.PLAN
    # "I finally passed!" tells; "Watch out!" only exclaims
    told = language["subject"].search(text) or language["elliptical"].search(text)
    return Kind.EXCLAMATION if language["exclaimed"].search(text) and not told else Kind.STATEMENT


def is_future(text: str, language: Language) -> bool:
    """Whether a clause does not look back: then a date without a year lies ahead."""
    past = language["past"].search(text)
    if past is None:
        return True
    future = language["future"].search(text)
    return future is not None and future.start() <= past.start()
