"""Recall over public conversations: LoCoMo, BEAM, LongMemEval."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from uuid import UUID

from app.domain import Owner
from app.memory.gates.rules import ranked
from bench.tools.memories import SETTINGS, TENANT, stage
from bench.tools.ranking import (
    PRODUCT,
    SEED,
    WAYS,
    among,
    at,
    first_sessions,
    mean,
    within,
)
from bench.tools.report import Target, table
from bench.tools.talks import ADVERSARIAL, beam, locomo, longmemeval, told

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from app.domain import Candidate
    from app.memory.embed import Model
    from bench.tools.memories import Stage
    from bench.tools.talks import Talk

    Count = Callable[[str], int]
    Measures = dict[str, float]
    Measure = Callable[["Asked", Sequence[Candidate], Count], Measures]
    # way → measure → a value for each question
    Values = dict[str, dict[str, list[float]]]
    Part = tuple[dict[str, object], list[Target]]

R10: Final = "R@10"
SESSION: Final = "session in 5"
BUDGETS: Final = {2048: "in 2048 tokens", 512: "in 512 tokens"}
CATEGORY_5: Final = "R@10, category 5"
# What a call of the shipped policy is given: 12 memories, 512 tokens, of 20 candidates.
GATE: Final = "through the gate"
SAMPLE: Final = 30


@dataclass(frozen=True, slots=True)
class Asked:
    """What answers a question: the memories, and the conversations they are of."""

    kind: str
    evidence: frozenset[UUID]
    sessions: frozenset[str]


def of_locomo(asked: Asked, ranked: Sequence[Candidate], count: Count) -> Measures:
    """Turns in the first ten and within budgets (categories 1–4); a conversation in five (all)."""
    seen = {SESSION: float(not asked.sessions.isdisjoint(first_sessions(5, ranked)))}
    ten = among(asked.evidence, at(10, ranked))
    if asked.kind == ADVERSARIAL:
        return seen | {CATEGORY_5: ten}
    seen |= {R10: ten, _of(asked.kind): ten}
    return seen | {
        name: among(asked.evidence, within(tokens, ranked, count))
        for tokens, name in BUDGETS.items()
    }


def of_beam(asked: Asked, ranked: Sequence[Candidate], _count: Count) -> Measures:
    """Messages in the first ten."""
    ten = among(asked.evidence, at(10, ranked))
    return {R10: ten, _of(asked.kind): ten}


def of_sessions(asked: Asked, ranked: Sequence[Candidate], _count: Count) -> Measures:
    """Conversations in the first five: how many of those that answer, and whether any."""
    found = asked.sessions.intersection(first_sessions(5, ranked))
    return {"session recall@5": len(found) / len(asked.sessions), SESSION: float(bool(found))}


async def locomo_part(model: Model, data: Path, limit: int | None) -> Part:
    """Each turn is a memory: "speaker: text [shared a photo: caption]"."""
    talks = locomo(data, limit)
    seen = await measured(model, talks, of_locomo)
    columns = (R10, *BUDGETS.values(), GATE, SESSION, CATEGORY_5)
    _show(f"LoCoMo, a turn a memory, one store: {told(talks)}", seen, columns)
    _show_kinds("LoCoMo, R@10 by category", seen)
    ours = _means(seen)[PRODUCT]
    return {"locomo": _means(seen) | {"data": told(talks)}}, [
        Target("locomo_r10", ours[R10], 79, at_most=False),
        Target("locomo_in_2048_tokens", ours[BUDGETS[2048]], 90, at_most=False),
        Target("locomo_in_512_tokens", ours[BUDGETS[512]], 78, at_most=False),
        Target("locomo_session_in_5", ours[SESSION], 94, at_most=False),
    ]


async def beam_part(model: Model, data: Path, limit: int | None) -> Part:
    """Each message of the user is a memory; the assistant's are context at most."""
    talks = beam(data, limit)
    seen = await measured(model, talks, of_beam)
    _show(f"BEAM, a user message a memory, one store: {told(talks)}", seen, (R10, GATE))
    _show_kinds("BEAM, R@10 by ability", seen)
    ours = _means(seen)[PRODUCT]
    return {"beam": _means(seen) | {"data": told(talks)}}, [
        Target("beam_r10", ours[R10], 70, at_most=False)
    ]


async def longmemeval_part(model: Model, path: Path, sample: int = SAMPLE) -> Part:
    """Each user message is a memory; each question has an owner of its own, and a haystack."""
    talks = longmemeval(path, sample, SEED)
    seen = await measured(model, talks, of_sessions)
    title = f"LongMemEval ({path.name}), a user message a memory, one store: {told(talks)}"
    _show(title, seen, ("session recall@5", SESSION))
    return {"longmemeval": _means(seen) | {"data": told(talks)}}, []


async def measured(model: Model, talks: Sequence[Talk], measure: Measure) -> Values:
    """All talks in one store, each of another owner; every question's order is taken to its end."""
    seen: Values = {way: defaultdict(list) for way in WAYS}
    async with stage(model) as built:
        for talk in talks:
            await _measure_one(built, talk, measure, seen)
    return seen


async def _measure_one(built: Stage, talk: Talk, measure: Measure, seen: Values) -> None:
    owner = Owner(TENANT, talk.name)
    ids = await built.hear(owner, talk.messages)
    end = max(message.at for message in talk.messages)
    whose = {message.key: message.session for message in talk.messages}
    for question in talk.questions:
        keys = question.evidence
        evidence = frozenset(ids[key] for key in keys if key in ids)
        # LongMemEval's evidence is conversations.
        asked = Asked(question.kind, evidence, frozenset(whose.get(key, key) for key in keys))
        found = await built.candidates(owner, question.text, len(talk.messages))
        orders = {way: order(found) for way, order in WAYS.items()} | {
            PRODUCT: ranked(found, end, built.rules)
        }
        for way, order in orders.items():
            for name, value in measure(asked, order, built.count).items():
                seen[way][name].append(value)
        if evidence and question.kind != ADVERSARIAL:
            shown = built.admitted(found[: SETTINGS.candidates], now=end)
            seen[PRODUCT][GATE].append(among(evidence, [item.memory.id for item in shown]))


def _of(kind: str) -> str:
    return f"{R10}: {kind}"


def _means(seen: Values) -> dict[str, dict[str, float]]:
    return {way: {name: mean(v) for name, v in values.items()} for way, values in seen.items()}


def _show(title: str, seen: Values, columns: Sequence[str]) -> None:
    means = _means(seen)
    rows = [[way, *(means[way].get(column) for column in columns)] for way in means]
    counts = [len(seen[PRODUCT][column]) for column in columns]
    table(title, ["way", *columns], [*rows, ["questions", *counts]])


def _show_kinds(title: str, seen: Values) -> None:
    means = _means(seen)
    kinds = sorted(name for name in means[PRODUCT] if name.startswith(_of("")))
    rows = [
        [kind.removeprefix(_of("")), len(seen[PRODUCT][kind])] + [means[way][kind] for way in means]
        for kind in kinds
    ]
    table(title, ["kind", "questions", *means], rows)
