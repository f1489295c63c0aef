"""Which of the known memories a statement ends that names no slot ("I sold my bike"). Pure.

All words of its topic stand in the memory, in whatever form, and there they name the thing itself:
"bike insurance" is not the bike.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from app.memory.script import CJK, HAN
from app.memory.similar import alike

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from app.domain import Memory, Topic

_WORD: Final = re.compile(r"[\w-]*\w")
MOST: Final = 3
# Among what a topic needs it stands for any number.
DIGIT: Final = "#"
_BEHIND: Final = "(?=[是在叫了的和有很の])"
# A word behind the thing that makes another thing of it is none of these.
_LINKS: Final = frozenset(
    {"is", "was", "are", "were", "has", "had", "have", "will", "and", "or", "but", "in", "at", "on"}
    | {"for", "from", "to", "of", "with", "by", "every", "each", "since", "until", "that", "which"}
    | {"who", "named", "called", "because", "when", "near", "twice", "once", "as", "than", "about"}
)
# … and before it, where the thing is only somebody's or something's: "el seguro del coche".
_OF: Final = frozenset({"del", "de", "du", "do", "da", "des", "of"})


def concerned(
    topic: Topic, known: Iterable[Memory], another: Callable[[Memory], str]
) -> Sequence[Memory]:
    """The memories that are over; none if more than `MOST` could be meant.

    `another` gives who else than the user a memory is about, or "": "my sister has a piano" does
    not end with "I sold my piano".
    """
    meant = [
        memory
        for memory in known
        if _is_about(memory.fact.content, topic) and _may_end(another(memory), topic)
    ]
    hinted = [memory for memory in meant if _holds_any(memory.fact.content, topic.hints)]
    found = hinted or meant
    return found if len(found) <= MOST else ()


def _may_end(who: str, topic: Topic) -> bool:
    return not who or any(alike(one, word) for one in _WORD.findall(who) for word in topic.words)


def _is_about(content: str, topic: Topic) -> bool:
    if topic.needs and not _holds_any(content, topic.needs):
        return False
    if any(CJK.search(word) for word in topic.words):
        return all(_stands_in(content.casefold(), word) for word in topic.words)
    words = _WORD.findall(content.casefold())
    return all(_stands(word, words, topic.words) for word in topic.words)


def _holds_any(content: str, wanted: frozenset[str]) -> bool:
    if DIGIT in wanted and any(letter.isdecimal() for letter in content):
        return True
    words = _WORD.findall(content.casefold())
    return any(alike(one, word) for one in wanted for word in words) or any(
        one in content for one in wanted if CJK.search(one)
    )


def _stands_in(content: str, word: str) -> bool:
    """One character is only the thing where no other makes another thing of it (车, 车库)."""
    if len(word) > 1:
        return word in content
    alone = rf"{re.escape(word)}(?:(?![{HAN}])|{_BEHIND})"
    return re.search(alone, content) is not None


def _stands(word: str, words: Sequence[str], topic: frozenset[str]) -> bool:
    return any(
        alike(word, other) and _is_head(place, words, topic) for place, other in enumerate(words)
    )


def _is_head(place: int, words: Sequence[str], topic: frozenset[str]) -> bool:
    """Whether the word at a place names the thing, not what another thing is for."""
    before = words[place - 1] if place else ""
    behind = words[place + 1] if place + 1 < len(words) else ""
    if before in _OF and len(topic) == 1:
        return False
    plain = not behind or behind in _LINKS or not behind.isascii() or len(topic) > 1
    return plain or not _is_english(words) or any(alike(behind, word) for word in topic)


def _is_english(words: Sequence[str]) -> bool:
    return bool({"the", "user", "user's", "their"} & set(words))
