"""PrecisionMemBench: whether the right belief comes, and nothing else.

Beliefs are memories of their user. A domain is a project of that user, and they are in its pool;
what is universal is in the user's own. Superseded beliefs are superseded, resolved ones
expired, pinned ones pinned. The pinned ones are a tier of their own in this benchmark, so they
count neither way.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from app.domain import Message, Owner, Pool, State
from bench.tools.memories import POLICY, SETTINGS, TENANT, as_fact, stage
from bench.tools.ranking import mean
from bench.tools.report import Target, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from app.domain import Candidate, Memory, Policy
    from app.memory.embed import Model
    from bench.tools.memories import Stage

    Part = tuple[dict[str, object], list[Target]]
    Belief = dict[str, Any]
    Chosen = Callable[[Stage, tuple[Candidate, ...], Policy], list[Memory]]

USER: Final = "test-user"
UNIVERSAL: Final = "user:universal"
RECENT: Final = 6


@dataclass(frozen=True, slots=True)
class Case:
    """One call, and the beliefs that belong to it; None: only leaks are asked about."""

    user: str
    scopes: tuple[str, ...]
    query: str
    expected: frozenset[str] | None
    limit: int = POLICY.limit
    recent: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """What came, by belief, and whether any of it must never come."""

    case: Case
    found: frozenset[str]
    other_user: int
    outdated: int

    @property
    def precision(self) -> float:
        """Of what came, the share that belongs here; 0 if nothing did."""
        return len(self.found & (self.case.expected or set())) / max(len(self.found), 1)

    @property
    def recall(self) -> float:
        """Of what belongs here, the share that came."""
        return len(self.found & (self.case.expected or set())) / len(self.case.expected or {""})


def single_cases(data: Path) -> list[Case]:
    """The 77 cases of one turn."""
    rows = json.loads((data / "precisionmembench" / "retrieval.cases.json").read_text())
    return [
        Case(
            row.get("userId", USER),
            tuple(row["scope"]),
            row["query"],
            _expected(row),
            min(row.get("budget", {}).get("maxBeliefs", POLICY.limit), POLICY.limit),
        )
        for row in rows
    ]


def session_cases(data: Path) -> list[Case]:
    """Turns of a conversation that drifts, up to the one that changes a belief on its way."""
    rows = json.loads((data / "precisionmembench" / "session-retrieval.cases.json").read_text())
    return [case for row in rows for case in _turns(row["turns"])]


def _turns(turns: Sequence[dict[str, Any]]) -> Iterator[Case]:
    recent: tuple[Message, ...] = ()
    for turn in turns:
        if "updateBeliefAtTurn" in turn:
            return
        said = turn["userMessage"]
        yield Case(USER, tuple(turn["scope"]), said, _expected(turn), recent=recent)
        answered = Message("assistant", turn["assistantMessage"])
        recent = (*recent, Message("user", said), answered)[-RECENT:]


def _expected(row: dict[str, Any]) -> frozenset[str] | None:
    only = row["expect"].get("relevantBeliefs", {}).get("shouldOnlyInclude")
    return None if only is None else frozenset(only)


def statement(belief: Belief) -> str:
    """The belief as a memory of ours would say it."""
    return str(belief["content"])


def with_aliases(belief: Belief) -> str:
    """The same with the other names of its subject, which other systems are given, too."""
    aliases = ", ".join(belief["aliases"])
    return f"{belief['content']} ({aliases})" if aliases else statement(belief)


def as_memory(belief: Belief, text: str) -> Memory:
    """A belief as the product would keep it."""
    owner = owner_of(belief["user_id"], belief["scope"][0])
    memory = as_fact(owner, text, pinned=belief["pinned"], confidence=belief["confidence"])
    state = State.ACTIVE
    if belief["resolved_at"] is not None:
        state = State.EXPIRED
    if belief["epistemic_status"] == "superseded":
        state = State.SUPERSEDED
    return replace(memory, pool=Pool.PROJECT if owner.project else Pool.USER, state=state)


def owner_of(user: str, scope: str) -> Owner:
    """A person at work in one domain. Nobody else is on that project: its pool would be shared."""
    return Owner(TENANT, user, None if scope == UNIVERSAL else f"{user} {scope}")


def gated(built: Stage, found: tuple[Candidate, ...], policy: Policy) -> list[Memory]:
    """What the product would show."""
    return [item.memory for item in built.admitted(found, policy)]


def unfiltered(_: Stage, found: tuple[Candidate, ...], policy: Policy) -> list[Memory]:
    """A floor: what a search alone would show, up to the same number."""
    return [candidate.memory for candidate in found[: policy.limit]]


async def precision_part(model: Model, data: Path) -> Part:
    """Precision and recall of what reaches the prompt, with aliases in the text and without."""
    singles, sessions = single_cases(data), session_cases(data)
    ways: dict[str, tuple[Callable[[Belief], str], Chosen, list[Case]]] = {
        "gate, with aliases": (with_aliases, gated, singles),
        "search alone, with aliases": (with_aliases, unfiltered, singles),
        "gate, statement only": (statement, gated, singles),
        "search alone, statement only": (statement, unfiltered, singles),
        "gate, with aliases: sessions": (with_aliases, gated, sessions),
    }
    results = {name: await _run(model, data, *way) for name, way in ways.items()}
    rows = {name: _row(found) for name, found in results.items()}
    columns = ("cases", "precision", "recall", "cases for nothing", "nothing came", *LEAKS)
    title = f"PrecisionMemBench, {SETTINGS.candidates} candidates, pinned beliefs apart"
    table(title, ["way", *columns], [[name, *row] for name, row in rows.items()])
    ours = [result for result in results["gate, with aliases"] if result.case.expected]
    leaks = sum(r.other_user + r.outdated for found in results.values() for r in found)
    return {"precision": {n: dict(zip(columns, row, strict=True)) for n, row in rows.items()}}, [
        Target("precision", mean([r.precision for r in ours]), 80, at_most=False),
        Target("precision_recall", mean([r.recall for r in ours]), 85, at_most=False),
        Target("precision_leaks", leaks, 0),
    ]


LEAKS: Final = ("other user", "superseded")


def _row(results: Sequence[Result]) -> list[float | None]:
    """Means over the cases that expect something; over the others, how many stayed silent."""
    some = [result for result in results if result.case.expected]
    none = [r for r in results if r.case.expected is not None and not r.case.expected]
    return [
        len(some),
        mean([result.precision for result in some]),
        mean([result.recall for result in some]),
        len(none),
        mean([float(not result.found) for result in none]) if none else None,
        sum(result.other_user for result in results),
        sum(result.outdated for result in results),
    ]


async def _run(
    model: Model, data: Path, text: Callable[[Belief], str], chosen: Chosen, cases: list[Case]
) -> list[Result]:
    seed = json.loads((data / "precisionmembench" / "beliefs.seed.json").read_text())
    names = {}
    async with stage(model) as built:
        for belief in seed:
            memory = as_memory(belief, text(belief))
            names[memory.id] = belief["_id"]
            await built.know(memory)
        return [await _ask(built, case, chosen, names) for case in cases]


async def _ask(built: Stage, case: Case, chosen: Chosen, names: dict[Any, str]) -> Result:
    """A call belongs to one project: a case of two domains is two calls."""
    shown: list[Memory] = []
    policy = replace(POLICY, limit=case.limit)
    for scope in case.scopes:
        owner = owner_of(case.user, scope)
        found = await built.candidates(owner, case.query, recent=case.recent)
        shown += chosen(built, found, policy)
    return Result(
        case,
        frozenset(names[memory.id] for memory in shown if not memory.fact.pinned),
        other_user=sum(memory.owner.user != case.user for memory in shown),
        outdated=sum(memory.state is not State.ACTIVE for memory in shown),
    )
