"""What the extractor's tests share: the language, a time to speak at, and short ways to ask."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from app.domain import Learned
from app.memory.extract.clauses import Clause, clauses
from app.memory.extract.heuristic import extract
from app.memory.extract.language import load
from app.memory.extract.wording import plain

EN: Final = load("en")
# A Monday.
AT: Final = datetime(2026, 11, 30, 18, 2, 10, tzinfo=UTC)


def learned(text: str) -> tuple[Learned, ...]:
    """The facts of a message said at `AT`."""
    return extract(text, AT, EN)


def slots(text: str) -> dict[str, str | None]:
    """Each statement of a message and its slot."""
    return {item.fact.content: item.fact.slot for item in learned(text)}


def only(text: str) -> Learned:
    """The one fact of a message."""
    (item,) = learned(text)
    return item


def one_clause(text: str) -> Clause:
    """A text as the one clause that it is."""
    (clause,) = clauses(plain(text), EN)
    return clause
