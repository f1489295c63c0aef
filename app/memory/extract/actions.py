"""What a model answers to the `llm` and `inline` extractors, read tolerantly, made facts. Pure.

A row that is not as it should be is dropped, the others stay. So is one whose quote is not in the
user's words: that keeps out what was made up, and what anybody else said (M29).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from app.domain import MAX_QUOTE_CHARS, Fact, Learned, MemoryType, Pool, Via, clean_text
from app.domain.marker import NOTHING
from app.memory.extract.segment import QUOTED
from app.memory.secrets import MASK
from app.memory.similar import near_copies, words_of
from app.memory.slots import is_known

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from app.domain import Memory

MAX_ANSWER_CHARS: Final = 65_536
# Where JSON may begin; prose with more brackets than this holds no answer.
MAX_STARTS: Final = 64
MAX_ACTIONS: Final = 50
MAX_STATEMENT_CHARS: Final = 400
MAX_QUOTED_CHARS: Final = 1_000
# So few characters stand in any message.
MIN_QUOTED_CHARS: Final = 4
CONFIDENCE: Final = 0.7
MAX_CONFIDENCE: Final = 0.95
IMPORTANCE: Final = 0.5
IMPORTANCE_OF_WISHES: Final = 0.7
KINDS: Final = frozenset({"add", "update", "retract"})
_START: Final = re.compile(r"[{\[]")
_LOOSE_COMMA: Final = re.compile(r",(?=\s*[}\]])")
# What the model was not shown: a quote ends with a word, so perhaps without the mask's bracket.
_HIDDEN: Final = re.compile(re.escape(MASK.rstrip("]")) + "|" + QUOTED)
_DECODER: Final = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Action:
    """One row of an answer; `name` is the short id of the memory that it is about."""

    kind: str
    statement: str = field(repr=False)
    quote: str = field(repr=False)
    name: str | None = None
    type: MemoryType = MemoryType.SEMANTIC
    slot: str | None = field(default=None, repr=False)
    confidence: float = CONFIDENCE


def parse(text: str) -> list[Action] | None:
    """The actions in a model's answer; None if there is no JSON of that kind in it.

    >>> parse('Sure! {"actions": []}')
    []
    """
    groups = list(_groups(_LOOSE_COMMA.sub("", text[:MAX_ANSWER_CHARS])))
    if not groups:
        return None
    actions = [action for rows in groups for row in rows if (action := _action(row)) is not None]
    return list(dict.fromkeys(actions))[:MAX_ACTIONS]


def marked(marker: str) -> list[Action] | None:
    """The facts in one marker's text, none for `none`; None if it cannot be read.

    >>> marked("none"), marked("(nothing new)")
    ([], None)
    """
    if marker.strip(" .\"'").casefold() == NOTHING:
        return []
    try:
        row = json.loads(_LOOSE_COMMA.sub("", marker), parse_int=float)
    except (ValueError, RecursionError):
        return None
    rows = [row] if isinstance(row, dict) else row if isinstance(row, list) else []
    found = [_action({"action": "add"} | row) for row in rows if isinstance(row, dict)]
    return list(filter(None, found))[:MAX_ACTIONS] or None


def _groups(text: str) -> Iterator[list[Any]]:
    """Each list of rows in a text, whatever stands around it; also the rows of one cut short."""
    place = 0
    for _ in range(MAX_STARTS):
        if (start := _START.search(text, place)) is None:
            return
        try:
            value, place = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            place = start.end()
            continue
        if (rows := _rows(value)) is not None:
            yield rows


def _rows(value: Any) -> list[Any] | None:  # noqa: ANN401 any JSON
    if isinstance(value, dict):
        rows = value.get("actions", [value] if "action" in value else None)
        return rows if isinstance(rows, list) else None
    return value if all(isinstance(row, dict) and "action" in row for row in value) else None


def _action(row: Any) -> Action | None:  # noqa: ANN401 any JSON
    if not isinstance(row, dict):
        return None
    kind = _text(row, "action", 20).casefold()
    statement = _text(row, "statement", MAX_STATEMENT_CHARS)
    quote = _text(row, "quote", MAX_QUOTED_CHARS)
    if kind not in KINDS or not quote or not (statement or kind == "retract"):
        return None
    procedural = row.get("type") == MemoryType.PROCEDURAL.value
    slot = _text(row, "slot", MAX_STATEMENT_CHARS)
    return Action(
        kind,
        statement,
        quote,
        name=_text(row, "id", 20) or None,
        type=MemoryType.PROCEDURAL if procedural else MemoryType.SEMANTIC,
        slot=slot if is_known(slot) else None,
        confidence=_confidence(row.get("confidence")),
    )


def _text(row: dict[str, Any], name: str, limit: int) -> str:
    """A field that is a text of at most so many characters, else "": half a one says another."""
    value = row.get(name)
    return clean_text(value) if isinstance(value, str) and len(value) <= limit else ""


def _confidence(value: object) -> float:
    if isinstance(value, int | float) and 0 <= value <= 1:
        return min(float(value), MAX_CONFIDENCE)
    return CONFIDENCE


def learned(action: Action, known: Mapping[str, Memory], text: str) -> Learned | None:
    """The fact of an action; None if the user's `text` does not say it, or not openly."""
    memory = known.get(action.name or "") if action.kind != "add" else None
    statement = _statement(action, memory)
    quote = spoken(action.quote, text)
    if not statement or not quote or _HIDDEN.search(f"{statement} {quote}"):
        return None
    wish = action.type is MemoryType.PROCEDURAL
    slot = action.slot or (memory.fact.slot if memory else None)
    fact = Fact(
        statement,
        type=action.type,
        slot=slot,
        importance=IMPORTANCE_OF_WISHES if wish else IMPORTANCE,
        confidence=action.confidence,
    )
    shared = Pool.PROJECT if slot and slot.startswith("project.") else Pool.USER
    return Learned(
        fact,
        quote[:MAX_QUOTE_CHARS],
        pool=memory.pool if memory else shared,
        retracts=action.kind == "retract",
        about=(memory.id,) if memory else (),
        via=Via.LLM,
    )


def _statement(action: Action, memory: Memory | None) -> str:
    """What is stored. Models like to say again what they retract: that would confirm it."""
    if action.kind != "retract" or memory is None:
        return action.statement
    old = memory.fact.content
    said = action.statement or old
    return f"No longer true: {old}" if near_copies(words_of(said), words_of(old)) else said


def spoken(quote: str, text: str) -> str:
    r"""The quote as it stands in the text, blind to case, spacing and punctuation; "" if not.

    >>> spoken("i live in porto", "Well, I live\\nin Porto.")
    'I live\\nin Porto'
    """
    words = re.findall(r"\w+", quote[:MAX_QUOTE_CHARS])  # its head tells enough
    if sum(map(len, words)) < MIN_QUOTED_CHARS:
        return ""
    found = re.search(r"\W+".join(map(re.escape, words)), text, re.IGNORECASE)
    return found[0] if found else ""
