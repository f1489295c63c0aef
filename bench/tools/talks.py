"""Public conversations with questions about them: LoCoMo, BEAM and LongMemEval in one shape."""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from bench.tools.memories import NOW, Said

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_TURN: Final = re.compile(r"D\d+:\d+")
# BEAM's user messages end in "->-> 1,1": their place in its plan.
_PLAN: Final = re.compile(r"\s*->->.*$", re.DOTALL)
# How much of an answer says what the question was about (FACTS).
HEAD: Final = 300
ADVERSARIAL: Final = "5 adversarial"
CATEGORIES: Final = {
    1: "1 multi-hop",
    2: "2 temporal",
    3: "3 open domain",
    4: "4 single hop",
    5: ADVERSARIAL,
}


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the keys of the messages (or sessions) that answer it."""

    text: str
    evidence: frozenset[str]
    kind: str


@dataclass(frozen=True, slots=True)
class Talk:
    """One person's conversations and the questions about them."""

    name: str
    messages: tuple[Said, ...]
    questions: tuple[Question, ...]


def locomo(data: Path, limit: int | None = None) -> list[Talk]:
    """Conversations between two people; wrong evidence labels as corrected by locomo-audit."""
    talks = json.loads((data / "locomo" / "locomo_conv1-5.json").read_text())
    corrections = json.loads((data / "locomo" / "corrections_conv1-5.json").read_text())
    better = {row["question_id"]: row.get("correct_evidence") for row in corrections}
    return [_locomo(number, talk, better) for number, talk in enumerate(talks[:limit])]


def _locomo(number: int, talk: dict[str, Any], better: dict[str, list[str] | None]) -> Talk:
    questions = []
    for place, row in enumerate(talk["qa"]):
        named = better.get(f"locomo_{number}_qa{place}") or row.get("evidence") or []
        evidence = frozenset(key for text in named for key in _TURN.findall(str(text)))
        questions.append(Question(row["question"], evidence, CATEGORIES[row["category"]]))
    messages = tuple(_locomo_messages(talk["conversation"]))
    return _answerable(Talk(f"locomo-{number}", messages, tuple(questions)))


def _locomo_messages(talk: dict[str, Any]) -> Iterator[Said]:
    number = 1
    while turns := talk.get(f"session_{number}"):
        moment = talk[f"session_{number}_date_time"]
        at = datetime.strptime(moment, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        before = ""
        for turn in turns:
            photo = turn.get("blip_caption")
            text = f"{turn['speaker']}: {turn['text']}" + (
                f" [shared a photo: {photo}]" if photo else ""
            )
            yield Said(turn["dia_id"], text, str(number), at, before)
            before = text
        number += 1


def beam(data: Path, limit: int | None = None) -> list[Talk]:
    """A user's talks with an assistant; only the user's messages are kept, and looked for."""
    paths = sorted((data / "beam100k").glob("chat_*.json"))[:limit]
    return [_beam(path.stem, json.loads(path.read_text())) for path in paths]


def _beam(name: str, chat: dict[str, Any]) -> Talk:
    messages: list[Said] = []
    at = NOW
    for number, batch in enumerate(chat["chat"]):
        said = [message for turn in batch["turns"] for message in turn]
        at = _anchor(said) or at
        messages += _user_messages(said, str(number), at)
    questions = [
        Question(row["question"], frozenset(_ids(row.get("source_chat_ids"))), ability)
        for ability, rows in chat["probing_questions"].items()
        for row in rows
    ]
    return _answerable(Talk(f"beam-{name}", tuple(messages), tuple(questions)))


def _anchor(said: list[dict[str, Any]]) -> datetime | None:
    """When a batch was said: its first message has a date like "March-15-2024"."""
    for message in said:
        if anchor := message.get("time_anchor"):
            return datetime.strptime(anchor, "%B-%d-%Y").replace(tzinfo=UTC)
    return None


def _ids(found: object) -> Iterator[str]:
    """BEAM's evidence: an id, or lists and objects of such."""
    if isinstance(found, int):
        yield str(found)
    elif isinstance(found, dict):
        yield from _ids(list(found.values()))
    elif isinstance(found, list):
        for part in found:
            yield from _ids(part)


def _user_messages(said: list[dict[str, Any]], session: str, at: datetime) -> Iterator[Said]:
    for place, message in enumerate(said):
        text = _PLAN.sub("", message["content"]).strip()
        if message["role"] == "user" and text:
            after = said[place + 1] if place + 1 < len(said) else {"role": "user"}
            head = after["content"][:HEAD] if after["role"] == "assistant" else ""
            yield Said(str(message.get("id", f"{session}:{place}")), text, session, at, head)


def longmemeval(path: Path, questions: int, seed: int) -> list[Talk]:
    """A sample of the questions, each with a haystack of its own; evidence is session ids."""
    rows = json.loads(path.read_text())
    rows = [row for row in rows if not str(row["question_id"]).endswith("_abs")]
    chosen = random.Random(seed).sample(rows, min(questions, len(rows)))
    return [_haystack(row) for row in chosen]


def _haystack(row: dict[str, Any]) -> Talk:
    sessions = zip(row["haystack_session_ids"], row["haystack_sessions"], strict=True)
    dates = row.get("haystack_dates") or [None] * len(row["haystack_sessions"])
    messages = {
        message.key: message
        for (name, said), date in zip(sessions, dates, strict=True)
        for message in _user_messages(said, name, _date(date))
    }
    evidence = frozenset(row["answer_session_ids"])
    question = Question(row["question"], evidence, row.get("question_type", "all"))
    return Talk(f"longmemeval-{row['question_id']}", tuple(messages.values()), (question,))


def _date(text: str | None) -> datetime:
    """LongMemEval writes "2023/05/20 (Sat) 02:21"."""
    if not text:
        return NOW
    return datetime.strptime(text[:10], "%Y/%m/%d").replace(tzinfo=UTC)


def _answerable(talk: Talk) -> Talk:
    """Without the questions that no kept message answers; evidence that is not kept is left out."""
    kept = {message.key for message in talk.messages}
    known = (Question(q.text, q.evidence & kept, q.kind) for q in talk.questions)
    return Talk(talk.name, talk.messages, tuple(q for q in known if q.evidence))


def told(talks: Iterable[Talk]) -> str:
    """How much there is, for a table's title."""
    talks = list(talks)
    questions = sum(len(talk.questions) for talk in talks)
    messages = sum(len(talk.messages) for talk in talks)
    return f"{len(talks)} owners, {messages} memories, {questions} questions"
