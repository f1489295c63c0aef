"""What the heuristic extractor learns from what people write, and what it leaves alone.

Public data (`tools/public.py`) and the project's own labelled set in tests/data/learning, a third
of which was never used for tuning. A fact is covered when one stored item holds at least half of
its word stems (its keywords, in the own set); precision is the share of items that cover a fact;
one to one gives each fact an item of its own. Beside it the floors: every message as it is, and
every sentence in the first person.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.tools import public
from bench.tools.learner import earlier, heuristic, moment, remembered
from bench.tools.report import Target, arguments, finish, table
from bench.tools.scoring import COLUMNS, Score

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bench.tools.public import Part

OWN = Path(__file__).parents[1] / "tests" / "data" / "learning"


def rows(name: str) -> Iterator[dict[str, Any]]:
    """The lines of one file of the project's own set."""
    for line in (OWN / name).read_text().splitlines():
        yield json.loads(line)


def holds(text: str, keywords: Iterable[str]) -> bool:
    """Whether a text has all these words."""
    return all(keyword.lower() in text.lower() for keyword in keywords)


def own_turns() -> Part:
    """Turns with the facts they state: an item covers a fact if it has all of its keywords."""
    scores: dict[tuple[str, str], Score] = {}
    dated = [0, 0]
    for turn in rows("turns.jsonl"):
        items = heuristic(turn["text"], moment(turn), earlier(turn))
        wanted = [fact["keywords"] for fact in turn["facts"]]
        edges = [[holds(item, words) for item in items] for words in wanted]
        right = [any(column) for column in zip(*edges, strict=True)] or [False] * len(items)
        extras = [extra["keywords"] for extra in turn.get("allowed", ())]
        allowed = sum(
            not fits and any(holds(item, words) for words in extras)
            for item, fits in zip(items, right, strict=True)
        )
        for key in ((turn["lang"], turn["split"]), ("leaning on what came before", "all")):
            if key[1] != "all" or turn.get("before"):
                scores.setdefault(key, Score()).add(edges, len(items), allowed)
        for fact in turn["facts"]:
            if fact.get("date"):
                dated[0] += 1
                dated[1] += any(holds(item, [*fact["keywords"], fact["date"]]) for item in items)
    table(
        "Own turns", ["language", "split", *COLUMNS], [s.row(*k) for k, s in sorted(scores.items())]
    )
    table("Dates that are counted from the turn", ["facts", "right"], [dated])
    figures = {"/".join(key): score.row() for key, score in scores.items()}
    return {"own_turns": figures, "own_dates": dated}, []


async def own_nothing() -> Part:
    """Turns that must store nothing, through the product's own steps: the guard is one of them.

    What the user said before is told before, as turns of their own; only what is new counts.
    """
    kinds: dict[str, list[int]] = {}
    for turn in rows("nothing.jsonl"):
        told = [said["text"] for said in turn.get("before") or () if said["role"] == "user"]
        known = set(await remembered(told, moment(turn)))
        counts = kinds.setdefault(turn["kind"], [0, 0])
        counts[0] += 1
        said = await remembered([*told, turn["text"]], moment(turn), earlier(turn))
        counts[1] += bool(set(said) - known)
    table(
        "Turns that must store nothing",
        ["kind", "turns", "stored something"],
        [[kind, *counts] for kind, counts in sorted(kinds.items())],
    )
    secrets = kinds.get("secret", [0, 0])[1]
    return {"nothing": kinds}, [Target("secrets_stored", secrets, 0)]


async def own_chains() -> Part:
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


def speed() -> Part:
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
    parts = [
        public.memorybench(),
        asyncio.run(public.updates()),
        public.extraction(),
        public.calibration(),
        own_turns(),
        asyncio.run(own_nothing()),
        asyncio.run(own_chains()),
        speed(),
    ]
    figures = {name: seen for part, _ in parts for name, seen in part.items()}
    finish(figures, [target for _, judged in parts for target in judged], options.json)


if __name__ == "__main__":
    main()
