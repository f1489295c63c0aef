"""When an item covers a fact: by the stems of its words; and how many of each do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from py_rust_stemmers import SnowballStemmer  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Sequence

NO_MEANING = """a an and are as at be been by for from had has have in is it of on or s that the
their they this to user was were with"""
STOP = frozenset(re.findall(r"\w+", NO_MEANING))
COLUMNS = ("facts", "recall %", "one to one %", "items", "items a fact", "precision %")


@dataclass(slots=True)
class Score:
    """Facts and how many are covered; items and how many of them cover one."""

    facts: int = 0
    covered: int = 0
    matched: int = 0
    items: int = 0
    right: int = 0

    def add(self, edges: Sequence[Sequence[bool]], items: int, allowed: int = 0) -> None:
        """Count one message or session: a row a fact, a column an item; `allowed` are no fault."""
        self.facts += len(edges)
        self.covered += sum(map(any, edges))
        self.matched += one_to_one(edges)
        self.items += items - allowed
        self.right += sum(map(any, zip(*edges, strict=True)))

    def row(self, *names: str) -> list[object]:
        """A line of a table."""
        per_fact = self.items / max(self.facts, 1)
        return [*names, self.facts, self.recall, self.one_to_one, self.items, per_fact,
                self.precision]  # fmt: skip

    @property
    def recall(self) -> float:
        """Covered facts, in percent."""
        return 100 * self.covered / max(self.facts, 1)

    @property
    def one_to_one(self) -> float:
        """Facts that have an item of their own, in percent."""
        return 100 * self.matched / max(self.facts, 1)

    @property
    def precision(self) -> float:
        """Items that cover a fact, in percent."""
        return 100 * self.right / max(self.items, 1)


def one_to_one(edges: Sequence[Sequence[bool]]) -> int:
    """The most facts that can each have an item of its own (augmenting paths)."""
    taken: dict[int, int] = {}

    def placed(fact: int, seen: set[int]) -> bool:
        for item, fits in enumerate(edges[fact]):
            if fits and item not in seen:
                seen.add(item)
                if item not in taken or placed(taken[item], seen):
                    taken[item] = fact
                    return True
        return False

    return sum(placed(fact, set()) for fact in range(len(edges)))


@cache
def stemmer() -> SnowballStemmer:
    """Snowball's English stemmer."""
    return SnowballStemmer("english")


def stems(text: str) -> set[str]:
    """The stems of the words that mean something."""
    words = re.findall(r"\w+", text.lower())
    return {stemmer().stem_word(word) for word in words if word not in STOP}


def covers(found: set[str], wanted: set[str]) -> bool:
    """Whether at least half of what is wanted is there."""
    return 2 * len(wanted & found) >= len(wanted)


def covering(facts: Sequence[str], items: Sequence[str]) -> list[list[bool]]:
    """Which item covers which fact."""
    found = [stems(item) for item in items]
    return [[covers(item, wanted) for item in found] for wanted in map(stems, facts)]
