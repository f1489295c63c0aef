"""The token budget: hard, and never broken by one huge memory (M20). Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from app.domain import Admitted
from app.memory.render import day, line, render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from app.domain import Candidate

    Count = Callable[[str], int]

# A stump shorter than this says nothing; the next memory is tried instead.
SHORTEST: Final = 24
# Longer than any token, so that a huge text is cut down before it is counted.
CHARS_A_TOKEN: Final = 12
_SENTENCE_END: Final = re.compile(r"[.!?。！？]\s|[。！？]")


def fit(
    candidates: Iterable[Candidate], limit: int, budget: int, count: Count
) -> tuple[Admitted, ...]:
    """Up to `limit` memories within `budget`; what does not fit is shortened or passed over."""
    left = budget - _fixed(count, render(()))
    chosen: list[Admitted] = []
    dates: set[str] = set()
    for candidate in candidates:
        if len(chosen) == limit:
            break
        item = Admitted(candidate.memory, candidate.memory.fact.content)
        date = 0 if day(item) in dates else _fixed(count, day(item) + "\n")
        text, cost = _within(item.text, left - date, count)
        if text is not None:
            chosen.append(Admitted(candidate.memory, text))
            dates.add(day(item))
            left -= date + cost
    return tuple(_by_day(chosen))


@lru_cache(maxsize=256)
def _fixed(count: Count, text: str) -> int:
    """Tokens of what stands in many blocks: the fence, a date."""
    return count(text)


def _by_day(chosen: Sequence[Admitted]) -> list[Admitted]:
    """Memories of one day together, days in the order of their best memory."""
    places: dict[str, int] = {}
    for item in chosen:
        places.setdefault(day(item), len(places))
    return sorted(chosen, key=lambda item: places[day(item)])


def _within(text: str, tokens: int, count: Count) -> tuple[str | None, int]:
    """The text, or its beginning, within that many tokens as a line, and what it costs.

    None if too little is left to say anything.
    """
    head = text[: max(tokens, 0) * CHARS_A_TOKEN]
    if head == text and (cost := _cost(text, count)) <= tokens:
        return text, cost
    if tokens < SHORTEST:
        return None, 0
    low, high = 0, len(head)
    while low < high:  # the longest beginning that fits
        middle = (low + high + 1) // 2
        if _cost(text[:middle] + "…", count) <= tokens:
            low = middle
        else:
            high = middle - 1
    stump = _rounded(text[:low])
    return stump, _cost(stump or "", count)


def _cost(text: str, count: Count) -> int:
    return count(line(text) + "\n")


def _rounded(text: str) -> str | None:
    """Cut back to the last sentence, else to the last word."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    if ends and ends[-1] > len(text) // 2:
        return text[: ends[-1]].rstrip()
    stump = text.rpartition(" ")[0] or text
    return f"{stump}…" if stump else None
