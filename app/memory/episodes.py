"""A turn as an episode: a bounded, dated excerpt for "what did we try last Tuesday" (M30). Pure.

Only the user's own words and the head of the answer are kept: pasted documents, code and recalled
blocks are not. Secrets are masked before the cut, so that no half of one is left behind (M32).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from app.domain import Fact, Learned, MemoryType, clean_text
from app.memory.extract.context import context, plays
from app.memory.extract.detect import languages
from app.memory.extract.segment import QUOTED, own_words
from app.memory.query import is_small_talk
from app.memory.secrets import mask
from app.memory.wording import ANSWERED, SAID

if TYPE_CHECKING:
    from app.domain import Turn

# Indexing the question with the first 300 characters of its answer recalls best (FACTS).
MAX_SAID: Final = 300
MAX_ANSWERED: Final = 300
MIN_WORDS: Final = 3
IMPORTANCE: Final = 0.2
CONFIDENCE: Final = 1.0
_WORD: Final = re.compile(r"\w+")
# What was left out, with the stops and little words that stood between.
_GAPS: Final = re.compile(r"…(?:[\s,.;:!…-]|\b(?:and|but|so)\b)*")


def episode(turn: Turn) -> Learned | None:
    """The turn as an excerpt; None for small talk, a test, a play, and what says nothing alone.

    `turn.learned` are the facts found in it. What they say is left out: an episode must not keep
    saying what is later superseded or forgotten, and an order that waits must not act from here.
    """
    if is_small_talk(turn.query) or _of_no_use(turn):
        return None
    rest = own_words(turn.query)
    for item in turn.learned:
        rest = rest.replace(item.quote, " … ") if item.quote else rest
    if len(_WORD.findall(rest)) < MIN_WORDS:
        return None
    said = excerpt(rest, MAX_SAID)
    # An answer may say again what is a row of its own: a fact of this turn, a memory it was given.
    echoes = bool(turn.learned or turn.source.injected)
    if echoes and said.rstrip().endswith("?"):
        return None
    answered = "" if echoes else excerpt(turn.answer, MAX_ANSWERED)
    content = f"{SAID}{said}" + (f"{ANSWERED}{answered}" if answered else "")
    fact = Fact(
        clean_text(content),
        type=MemoryType.EPISODIC,
        importance=IMPORTANCE,
        confidence=CONFIDENCE,
    )
    return Learned(fact=fact, quote=said, valid_from=turn.at)


def _of_no_use(turn: Turn) -> bool:
    """Whether it is about the memory itself, or a line in a play."""
    language = languages().of(turn.query)
    told = language["system"].search(turn.query) or language["play_set_up"].search(turn.query)
    return told is not None or plays(context(turn.source.before), language)


def excerpt(text: str, limit: int) -> str:
    """The head of a text on one line, secrets masked, cut between words; at most `limit`."""
    plain = _GAPS.sub("… ", text.replace(QUOTED, "…"))
    shown = mask(" ".join(plain.split())).text
    if len(shown) <= limit:
        return shown
    head = shown[: limit - 1]
    return (head.rpartition(" ")[0] or head) + "…"
