"""Learning on public data, read from ../shared/data or DATA_PATH; left out where it is absent."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from app.memory.extract.classify import Kind, classify
from bench.tools.learner import LANGUAGES, heuristic, remembered
from bench.tools.report import Target, table
from bench.tools.scoring import COLUMNS, Score, covering, covers, stems

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("DATA_PATH", ROOT.parent / "shared" / "data"))
FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|my|me|we|our)\b", re.IGNORECASE)
Part = tuple[dict[str, object], list[Target]]
Learner = Callable[[str], list[str]]
# What the calibration set calls a kind; `None` where a kind of ours is told apart further.
LABELS = {
    Kind.QUESTION: "question",
    Kind.COMMAND: "command",
    Kind.STYLE: "command",
    Kind.STANDING: "command",
    Kind.STATEMENT: "statement",
    Kind.PLAN: "statement",
    Kind.EXCLAMATION: "exclamation",
    Kind.GREETING: "greeting",
}


def there(name: str) -> bool:
    """Whether a set is there; says so where it is not."""
    found = (DATA / name).is_dir()
    if not found:
        print(f"{DATA / name} is absent: left out")
    return found


def sentences(text: str) -> list[str]:
    """A floor: every sentence that is in the first person."""
    parts = re.split(r"(?<=[.!?])\s+", text)
    return [part for part in parts if FIRST_PERSON.search(part)]


def profiles() -> list[dict[str, Any]]:
    """People with sessions and the facts that are expected after each."""
    found: list[dict[str, Any]] = json.loads(
        (DATA / "memorybench" / "profiles_1-12.json").read_text()
    )
    return found


def said(session: dict[str, Any]) -> list[str]:
    """The user's messages of a session."""
    return [turn["content"] for turn in session["turns"] if turn["role"] == "user"]


def sessions(learn: Learner) -> Score:
    """Every session of memorybench by one way of learning."""
    score = Score()
    for profile in profiles():
        for session in profile["sessions"]:
            facts = [expected["fact"] for expected in session["expected_memories_after"]]
            items = [item for text in said(session) for item in learn(text)]
            if facts:
                score.add(covering(facts, items), len(items))
    return score


def memorybench() -> Part:
    """Fact recall and item precision on memorybench, with the floors."""
    if not there("memorybench"):
        return {}, []
    ways: dict[str, Learner] = {
        "heuristic": heuristic,
        "every message": lambda text: [text],
        "first-person sentences": sentences,
    }
    scores = {name: sessions(learn) for name, learn in ways.items()}
    rows = [score.row(name) for name, score in scores.items()]
    table("memorybench, profiles 1-12", ["way", *COLUMNS], rows)
    ours = scores["heuristic"]
    return {"memorybench": {name: score.row() for name, score in scores.items()}}, [
        Target("memorybench_precision", ours.precision, 85, at_most=False),
        Target("memorybench_recall", ours.recall, 75, at_most=False),
    ]


async def updates() -> Part:
    """Pairs that contradict each other: the old one still active, the new one missing.

    What tells them apart are the stems that only one of them has.
    """
    if not there("memorybench"):
        return {}, []
    pairs = known = stale = missing = 0
    for profile in profiles():
        turns: list[str] = []
        for session in profile["sessions"]:
            news = [e for e in session["expected_memories_after"] if e.get("contradicts")]
            before = [stems(item) for item in await remembered(turns)] if news else []
            turns += said(session)
            after = [stems(item) for item in await remembered(turns)] if news else []
            for expected in news:
                new, old = stems(expected["fact"]), stems(expected["contradicts"])
                pairs += 1
                known += any(covers(item, old) for item in before)
                stale += any(
                    covers(item, old) and covers(item, old - new) and not covers(item, new - old)
                    for item in after
                )
                missing += not any(covers(item, new) for item in after)
    columns = ["pairs", "old known before", "old still active", "new missing"]
    row = [pairs, known, stale, missing]
    table("memorybench, what contradicts", columns, [row])
    return {"memorybench_updates": row}, [Target("memorybench_stale", stale, 0)]


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a JSON Lines file."""
    for line in path.read_text().splitlines():
        yield json.loads(line)


def by_language(name: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The texts of one of MemPalace's sets in each language, with their labels."""
    folder = DATA / "mempalace_eval" / name
    labels = {row.pop("id"): row for row in lines(folder / "labels.jsonl")}
    for path in sorted(folder.glob("dataset*.jsonl")):
        code = path.name.split(".")[1] if path.name.count(".") > 1 else "en"
        yield code, [row | labels[row["id"]] for row in lines(path)]


def tokens(text: str) -> set[str]:
    """Names and numbers: what a translation leaves as it is."""
    return set(re.findall(r"[a-z0-9]{2,}", text.lower()))


def shared(contents: list[str], text: str, items: list[str]) -> list[list[bool]]:
    """Which item covers which English fact, by the names and numbers that the text shares."""
    wanted = [tokens(content) & tokens(text) for content in contents]
    found = [tokens(item) for item in items]
    return [[covers(item, w) for item in found] for w in wanted if w]


def extraction() -> Part:
    """MemPalace's texts, notes that an assistant wrote; the labels are English in all languages."""
    if not there("mempalace_eval"):
        return {}, []
    found: dict[str, list[object]] = {}
    for code, texts in by_language("memory_extraction"):
        score, silent = Score(), 0
        for row in texts:
            contents = [memory["content"] for memory in row["memories"]]
            items = heuristic(row["text"])
            silent += not items
            english = code == "en"
            edges = covering(contents, items) if english else shared(contents, row["text"], items)
            score.add(edges, len(items))
        found[code] = [len(texts), silent, *score.row()]
    columns = ["language", "texts", "silent", *COLUMNS]
    table("MemPalace extraction", columns, [[code, *row] for code, row in found.items()])
    return {"mempalace_extraction": found}, []


def calibration() -> Part:
    """Which kind of sentence it is, per language: of five, and of the three that decide."""
    if not there("mempalace_eval"):
        return {}, []
    found: dict[str, list[object]] = {}
    for code, texts in by_language("calibration"):
        told = [(LABELS.get(kind_of(row["text"])), row["label"]) for row in texts]
        deciding = [pair for pair in told if pair[1] in {"question", "command", "statement"}]
        wrong = [pair for pair in deciding if pair[0] != pair[1]]
        # A question or a command that is taken for a statement can become a fact.
        leaks = sum(got in {"statement", "exclamation"} for got, label in wrong)
        found[code] = [len(told), share(told), share(deciding), leaks]
    columns = ["language", "sentences", "right of 5 kinds %", "right of 3 kinds %", "leaks"]
    table("MemPalace calibration", columns, [[code, *row] for code, row in found.items()])
    return {"mempalace_calibration": found}, []


def kind_of(text: str) -> Kind:
    """The kind of a sentence, read in its own language."""
    return classify(text, LANGUAGES.of(text))


def share(pairs: list[tuple[str | None, str]]) -> float:
    """Equal pairs, in percent."""
    return 100 * sum(one == other for one, other in pairs) / max(len(pairs), 1)
