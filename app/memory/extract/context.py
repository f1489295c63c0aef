"""What the conversation before a message makes of it (M31). Pure.

"Hawaii" three turns ago says which trip "my budget is 10k" is for; "Which city do you live in?"
says what "Leipzig" is. What the assistant asked only tells how to read the user's words: nothing of
it is stored (M29). And who set up a play goes on playing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from app.memory.extract.generic import size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.domain import Message
    from app.memory.extract.language import Language

# An answer that is not a sentence of its own is short.
MAX_ANSWER_WORDS: Final = 10
_STOPS: Final = ".!。！ "


@dataclass(frozen=True, slots=True)
class Context:
    """The user's messages before this one, newest last, and what the assistant said just before."""

    said: tuple[str, ...] = field(default=(), repr=False)
    heard: str = field(default="", repr=False)


def context(before: Sequence[Message]) -> Context:
    """The context in the messages before a turn, newest last."""
    said = tuple(message.text for message in before if message.role == "user")
    heard = before[-1].text if before and before[-1].role == "assistant" else ""
    return Context(said, heard)


def plays(around: Context, language: Language) -> bool:
    """Whether the conversation is a play that the user set up."""
    return any(language["play_set_up"].search(text) for text in around.said)


def answered(words: str, around: Context, language: Language) -> str | None:
    """The sentence that a bare answer stands for; None if it is none, or speaks for itself.

    >>> answered("Leipzig.", Context(heard="Which city do you live in?"), load("en"))
    'I live in Leipzig'
    """
    question = around.heard.rstrip()
    bare = words.rstrip(_STOPS)
    if not question.endswith(("?", "？")) or not bare or language["subject"].search(bare):
        return None
    if language["no_answer"].search(bare) or size(bare, language) > MAX_ANSWER_WORDS:
        return None
    for asked, says in language.grammar.rewrites["answers"]:
        if asked.search(question[-200:]):
            return says.format(answer=bare)
    return None


def themed(words: str, around: Context, language: Language) -> str | None:
    """The sentence with what its subject is for: "my budget" → "my budget for the Hawaii trip"."""
    subject = language["of_theme"].match(words)
    if subject is None:
        return None
    for text in reversed(around.said):
        if (theme := language["theme"].search(text)) is not None:
            said = theme.groupdict().items()
            parts = {name.rstrip("0123456789"): value for name, value in said if value}
            told = language.grammar.names["for_theme"].format(**parts)
            return words[: subject.end()] + told + words[subject.end() :]
    return None
