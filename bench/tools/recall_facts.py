"""Personal facts and questions of our own: false injection, and other languages.

`bench/data/facts.jsonl`: facts as the product keeps them, each with a question that needs it
(direct; paraphrase; leaning: nothing in it names the thing). `everyday.txt`: prompts that need none
of them. `languages.json`: the same 25 facts and questions in seven languages.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from app.domain import Candidate, Owner
from app.memory.calibration import everyday_prompts
from bench.tools.memories import POLICY, TENANT, as_fact, stage
from bench.tools.ranking import PRODUCT, WAYS, mean
from bench.tools.report import Target, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.memory.embed import Model
    from bench.tools.memories import Stage

    Part = tuple[dict[str, object], list[Target]]

OWN: Final = Path(__file__).parents[1] / "data"
ANA: Final = Owner(TENANT, "ana")
FLOORS: Final = tuple(round(0.02 * step, 2) for step in range(41))
PRINTED: Final = 10
TRUE_RATE: Final = 95.0
ENGLISH: Final = "en"
# For these the issue has a target.
TARGETED: Final = ("de", "es", "fr", "zh")


@dataclass(frozen=True, slots=True)
class Probe:
    """What a prompt finds; `needed` is the memory that it needs, if any."""

    prompt: str
    found: tuple[Candidate, ...]
    needed: UUID | None = None
    kind: str = "everyday"


@dataclass(frozen=True, slots=True)
class Rates:
    """In percent: questions that got what they need, and prompts that got anything."""

    floor: float
    true: float
    false: float


def facts() -> list[dict[str, Any]]:
    """Facts with their questions."""
    return [json.loads(line) for line in (OWN / "facts.jsonl").read_text().splitlines()]


def everyday() -> list[str]:
    """Prompts that need no memory."""
    return list(everyday_prompts())


def languages() -> dict[str, list[list[str]]]:
    """Pairs of a fact and its question, in the same order in each language."""
    found: dict[str, list[list[str]]] = json.loads((OWN / "languages.json").read_text())
    return found


async def false_injection_part(model: Model) -> Part:
    """Through the recall filter and the gate; the curve is over the gate's relevance floor."""
    async with stage(model) as built:
        probes = await _probes(built)
        curve = [rates(built, probes, floor) for floor in FLOORS]
        shipped = rates(built, probes, model.floor)
        wrong = sorted(p.prompt for p in probes if p.needed is None and built.admitted(p.found))
        missed = sorted(p.prompt for p in probes if p.needed and not _given(built, p))
        kinds = {
            kind: mean([_given(built, p) for p in probes if p.kind == kind])
            for kind in ("direct", "paraphrase", "leaning")
        }
    figures = {
        "shipped floor": shipped,
        f"gate at {TRUE_RATE:g} % true": highest(curve),
        "best cosine alone": highest([_cosine_only(probes, floor) for floor in FLOORS]),
    }
    asked = sum(probe.needed is not None for probe in probes)
    title = f"False injection, {asked} facts and questions, {len(probes) - asked} everyday prompts"
    rows = [[name, *_figures(found)] for name, found in figures.items()]
    rows += [["… gate", *_figures(found)] for found in curve[4:33:4]]
    table(title, ["way", "floor", "true %", "false %"], rows)
    table("Needed fact admitted at the shipped floor", ["kind", "%"], [*map(list, kinds.items())])
    _listed("Everyday prompts that were given something", wrong)
    _listed("Questions that were not given what they need", missed)
    return {
        "false_injection": {
            **{name: _figures(found) for name, found in figures.items()},
            "curve": [_figures(found) for found in curve],
            "kinds": kinds,
            "wrong": wrong,
            "missed": missed,
        }
    }, [
        Target("false_injection_at_95_true", highest(curve).false, 8),
        Target("shipped_floor_true", shipped.true, TRUE_RATE, at_most=False),
    ]


async def _probes(built: Stage) -> list[Probe]:
    known = facts()
    memories = [as_fact(ANA, fact["content"], slot=fact["slot"]) for fact in known]
    await built.know(*memories)
    questions = [
        Probe(q["question"], await built.candidates(ANA, q["question"]), memory.id, q["kind"])
        for q, memory in zip(known, memories, strict=True)
    ]
    return questions + [Probe(text, await built.candidates(ANA, text)) for text in everyday()]


def rates(built: Stage, probes: Sequence[Probe], floor: float) -> Rates:
    """At that floor. Pure: the gate is asked again about the same candidates."""
    return Rates(
        floor,
        mean([_given(built, probe, floor) for probe in probes if probe.needed]),
        mean([_given(built, probe, floor) for probe in probes if not probe.needed]),
    )


def highest(curve: Sequence[Rates]) -> Rates:
    """The highest floor that keeps enough of the true ones; the lowest of all, if none does."""
    return max((r for r in curve if r.true >= TRUE_RATE), key=_floor, default=curve[0])


def _floor(found: Rates) -> float:
    return found.floor


def _given(built: Stage, probe: Probe, floor: float | None = None) -> bool:
    """Whether a question got what it needs; whether any other prompt got anything."""
    shown = built.admitted(probe.found, replace(POLICY, threshold=floor))
    if probe.needed is None:
        return bool(shown)
    return probe.needed in {item.memory.id for item in shown}


def _cosine_only(probes: Sequence[Probe], floor: float) -> Rates:
    """The rule that FACTS measured: the best cosine of all decides."""
    best = {
        probe.prompt: max((c.scores["cosine"] for c in probe.found), default=0.0) >= floor
        for probe in probes
    }
    return Rates(
        floor,
        mean([best[probe.prompt] for probe in probes if probe.needed]),
        mean([best[probe.prompt] for probe in probes if not probe.needed]),
    )


def _figures(found: Rates) -> list[float]:
    return [found.floor, found.true, found.false]


def _listed(title: str, prompts: Sequence[str]) -> None:
    print(f"\n{title}: {len(prompts)}")
    for prompt in prompts[:PRINTED]:
        print(f"  {prompt[:90]}")


async def languages_part(model: Model) -> Part:
    """P@1 among 25 facts: question and fact in one language, or one of them in English."""
    pairs = languages()
    async with stage(model) as built:
        for language, both in pairs.items():
            await built.know(*(as_fact(Owner(TENANT, language), fact) for fact, _ in both))
        hits = {
            (asked, kept): await _first(built, asked, kept)
            for asked in pairs
            for kept in pairs
            if asked == kept or ENGLISH in {asked, kept}
        }
    shown = [way for way in WAYS if way != "random"]
    table(
        f"P@1 in {len(pairs)} languages, {len(pairs[ENGLISH])} facts each",
        ["question in", "fact in", *shown],
        [[*both, *(mean(found[way]) for way in shown)] for both, found in hits.items()],
    )
    found = {both: mean(found[PRODUCT]) for both, found in hits.items()}
    return {"languages": {f"{asked}/{kept}": p for (asked, kept), p in found.items()}}, [
        *(
            Target(
                f"p_at_1_cross_{other}",
                (found[other, ENGLISH] + found[ENGLISH, other]) / 2,
                95,
                at_most=False,
            )
            for other in TARGETED
        ),
        Target("p_at_1_english", found[ENGLISH, ENGLISH], 100, at_most=False),
    ]


async def _first(built: Stage, asked: str, kept: str) -> dict[str, list[float]]:
    """Whether each question in one language finds its fact in the other first, by way."""
    both = languages()
    owner = Owner(TENANT, kept)
    hits: dict[str, list[float]] = {way: [] for way in WAYS if way != "random"}
    for (_, question), (fact, _) in zip(both[asked], both[kept], strict=True):
        found = await built.candidates(owner, question, len(both[kept]))
        wanted = as_fact(owner, fact).id
        for way, values in hits.items():
            ranked = WAYS[way](found)
            values.append(float(bool(ranked) and ranked[0].memory.id == wanted))
    return hits
