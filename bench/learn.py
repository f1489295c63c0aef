"""What the heuristic extractor learns from what people write, and what it leaves alone.

Public data (read from ../shared/data or DATA_PATH; left out where it is absent) and the project's
own labelled set in tests/data/learning, a third of which was never used for tuning. A fact is
covered when one stored item holds at least half of its word stems; precision is the share of items
that cover a fact of their session. Beside it the floors: every message as it is, and every sentence
in the first person.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from py_rust_stemmers import SnowballStemmer  # type: ignore[import-untyped]

from app.domain import Owner, Policy, Source, State, Turn, Where
from app.filters import outbound
from app.memory.embed import Encoder, Lexical
from app.memory.embed.hashed import HashedModel
from app.memory.extract import HeuristicExtractor
from app.memory.extract.heuristic import extract
from app.memory.extract.detect import Languages
from app.memory.remember import Rememberer
from app.memory.stores.base import PayloadStore
from app.memory.stores.inmemory import InMemoryEngine
from app.pipeline import run
from app.settings import LearningSettings, Settings
from bench.tools.report import Target, arguments, finish, table

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("DATA_PATH", ROOT.parent / "shared" / "data"))
OWN = ROOT / "tests" / "data" / "learning"
AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
ANA = Owner("bench", "ana")
FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|my|me|we|our)\b", re.IGNORECASE)
NO_MEANING = """a an and are as at be been by for from had has have in is it of on or s that the
their they this to user was were with"""
STOP = frozenset(re.findall(r"\w+", NO_MEANING))
LANGUAGES = Languages()
Learner = Callable[[str], list[str]]


@dataclass(slots=True)
class Score:
    """Facts and how many are covered; items and how many of them cover one."""

    facts: int = 0
    covered: int = 0
    items: int = 0
    right: int = 0

    def row(self, *names: str) -> list[object]:
        """A line of a table."""
        return [*names, self.facts, self.recall, self.items, self.precision]

    @property
    def recall(self) -> float:
        """Covered facts, in percent."""
        return 100 * self.covered / max(self.facts, 1)

    @property
    def precision(self) -> float:
        """Items that cover a fact, in percent."""
        return 100 * self.right / max(self.items, 1)


COLUMNS = ("facts", "recall %", "items", "precision %")


@cache
def stemmer() -> SnowballStemmer:
    """Snowball's English stemmer."""
    return SnowballStemmer("english")


def stems(text: str) -> set[str]:
    """The stems of the words that mean something."""
    words = re.findall(r"\w+", text.lower())
    return {stemmer().stem_word(word) for word in words if word not in STOP}


def heuristic(text: str) -> list[str]:
    """What the product stores, episodes aside."""
    return [item.fact.content for item in extract(text, AT, LANGUAGES.of(text))]


def sentences(text: str) -> list[str]:
    """A floor: every sentence that is in the first person."""
    parts = re.split(r"(?<=[.!?])\s+", text)
    return [part for part in parts if FIRST_PERSON.search(part)]


def judged(score: Score, facts: list[str], items: list[str]) -> None:
    """Count one session."""
    wanted, found = [stems(fact) for fact in facts], [stems(item) for item in items]
    score.facts += len(facts)
    score.covered += sum(any(2 * len(w & f) >= len(w) for f in found) for w in wanted)
    score.items += len(items)
    score.right += sum(any(2 * len(w & f) >= len(w) for w in wanted) for f in found)


def memorybench(learn: Learner) -> Score:
    """Sessions with the facts that are expected after each."""
    score = Score()
    for profile in json.loads((DATA / "memorybench" / "profiles_1-12.json").read_text()):
        for session in profile["sessions"]:
            said = [turn["content"] for turn in session["turns"] if turn["role"] == "user"]
            facts = [expected["fact"] for expected in session["expected_memories_after"]]
            if facts:
                judged(score, facts, [item for text in said for item in learn(text)])
    return score


def public() -> tuple[dict[str, object], list[Target]]:
    """Fact recall and item precision on memorybench, with the floors."""
    if not (DATA / "memorybench").is_dir():
        print(f"{DATA} is absent: measured on the project's own data only")
        return {}, []
    ways: dict[str, Learner] = {
        "heuristic": heuristic,
        "every message": lambda text: [text],
        "first-person sentences": sentences,
    }
    scores = {name: memorybench(learn) for name, learn in ways.items()}
    table(
        "memorybench, profiles 1-12",
        ["way", *COLUMNS],
        [score.row(name) for name, score in scores.items()],
    )
    ours = scores["heuristic"]
    return {"memorybench": {name: score.row() for name, score in scores.items()}}, [
        Target("memorybench_precision", ours.precision, 85, at_most=False),
        Target("memorybench_recall", ours.recall, 75, at_most=False),
    ]


def rows(name: str) -> Iterator[dict[str, Any]]:
    """The lines of one file of the project's own set."""
    for line in (OWN / name).read_text().splitlines():
        yield json.loads(line)


def holds(text: str, keywords: Iterable[str]) -> bool:
    """Whether a text has all these words."""
    return all(keyword.lower() in text.lower() for keyword in keywords)


def own_turns() -> tuple[dict[str, object], list[Target]]:
    """Turns with the facts they state: an item covers a fact if it has all of its keywords."""
    scores: dict[tuple[str, str], Score] = {}
    for turn in rows("turns.jsonl"):
        items = heuristic(turn["text"])
        score = scores.setdefault((turn["lang"], turn["split"]), Score())
        wanted = [fact["keywords"] for fact in turn["facts"]]
        allowed = [extra["keywords"] for extra in turn.get("allowed", ())]
        score.facts += len(wanted)
        score.covered += sum(any(holds(item, words) for item in items) for words in wanted)
        right = [item for item in items if any(holds(item, words) for words in wanted)]
        extra = [i for i in items if i not in right and any(holds(i, words) for words in allowed)]
        score.items += len(items) - len(extra)
        score.right += len(right)
    table(
        "Own turns", ["language", "split", *COLUMNS], [s.row(*k) for k, s in sorted(scores.items())]
    )
    return {"own_turns": {"/".join(key): score.row() for key, score in scores.items()}}, []


async def own_nothing() -> tuple[dict[str, object], list[Target]]:
    """Turns that must store nothing, through the product's own steps: the guard is one of them."""
    kinds: dict[str, list[int]] = {}
    for turn in rows("nothing.jsonl"):
        counts = kinds.setdefault(turn["kind"], [0, 0])
        counts[0] += 1
        counts[1] += bool(await remembered([turn["text"]]))
    table(
        "Turns that must store nothing",
        ["kind", "turns", "stored something"],
        [[kind, *counts] for kind, counts in sorted(kinds.items())],
    )
    secrets = kinds.get("secret", [0, 0])[1]
    return {"nothing": kinds}, [Target("secrets_stored", secrets, 0)]


async def remembered(turns: list[str]) -> list[str]:
    """What is active after these turns, a day apart, through the product's own steps."""
    embed = Encoder(HashedModel(), Lexical())
    store: PayloadStore[Any] = PayloadStore(InMemoryEngine(), b"bench")
    settings = Settings(learning=LearningSettings(episodes=False))
    steps = outbound(
        settings, {"heuristic": HeuristicExtractor(Languages())}, Rememberer(store, embed)
    )
    for number, text in enumerate(turns):
        at = AT + timedelta(days=number)
        source = Source(turn_key=f"{number}:{text}")
        await run(steps, Turn(f"t{number}", at, ANA, Policy(), source, text))
    found = await store.find(ANA, Where(states=frozenset({State.ACTIVE})))
    embed.close()
    return [memory.fact.content for memory in found.memories]


async def own_chains() -> tuple[dict[str, object], list[Target]]:
    """Statements that change earlier ones: what is still there, and what is missing."""
    kinds: dict[tuple[str, str], list[int]] = {}
    for chain in rows("chains.jsonl"):
        active = " ".join(await remembered(chain["turns"])).lower()
        counts = kinds.setdefault((chain["lang"], chain["kind"]), [0, 0, 0])
        counts[0] += 1
        counts[1] += any(word.lower() in active for word in chain["stale"])
        counts[2] += not holds(active, chain["now"])
    table(
        "Update chains",
        ["language", "kind", "chains", "stale", "new missing"],
        [[*key, *counts] for key, counts in sorted(kinds.items())],
    )
    total, stale, missing = (sum(column) for column in zip(*kinds.values(), strict=True))
    figures = {"/".join(key): counts for key, counts in kinds.items()}
    return {"chains": figures}, [
        Target("chains_stale", stale, 0),
        Target("chains_new_missing_percent", 100 * missing / total, 5),
    ]


def speed() -> tuple[dict[str, object], list[Target]]:
    """Milliseconds a turn."""
    times = []
    for turn in rows("turns.jsonl"):
        began = time.perf_counter()
        heuristic(turn["text"])
        times.append((time.perf_counter() - began) * 1000)
    times.sort()
    p50, p99 = times[len(times) // 2], times[int(len(times) * 0.99)]
    table("A turn, ms", ["p50", "p99"], [[p50, p99]])
    return {"milliseconds": [p50, p99]}, [Target("turn_p50_ms", p50, 2)]


def main() -> None:
    """Measure, print, judge."""
    options = arguments(__doc__ or "")
    parts = [public(), own_turns(), asyncio.run(own_nothing()), asyncio.run(own_chains()), speed()]
    figures = {name: seen for part, _ in parts for name, seen in part.items()}
    finish(figures, [target for _, judged in parts for target in judged], options.json)


if __name__ == "__main__":
    main()
