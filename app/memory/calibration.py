"""The relevance floor of an encoder, fitted on the memories that are there.

True questions are made from facts whose slot says how they are asked for ("Where do I live?");
against them stand everyday prompts that need no memory. The floor keeps 95 of 100 true ones: lower
would only let in more of the others. It is kept with the identity of the encoder (M4): another
model starts from its own.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from math import ceil
from typing import TYPE_CHECKING, Final

from app.errors import ConfigurationError
from app.memory.slots import matches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from app.domain import Fact

FILE: Final = "calibration.json"
KEEP: Final = 0.95
# Fewer facts than this fit their own chance.
FEWEST: Final = 20
LOWEST: Final = 0.15
HIGHEST: Final = 0.6
# How people ask for the value of a slot; `{}` is what its `*` stands for.
QUESTIONS: Final = {
    "name": "What is my name?",
    "age": "How old am I?",
    "birthday": "When is my birthday?",
    "birthplace": "Where was I born?",
    "home_city": "Where do I live?",
    "home_country": "Which country do I live in?",
    "hometown": "Where am I from?",
    "employer": "Who do I work for?",
    "job": "What is my job?",
    "studies": "What do I study?",
    "language": "Which languages do I speak?",
    "learning": "What am I learning at the moment?",
    "diet": "What is my diet?",
    "allergy": "What am I allergic to?",
    "food_avoided": "What do I not eat?",
    "health": "Do I have a medical condition?",
    "partner.name": "What is my partner called?",
    "child.name": "What are my children called?",
    "pet.*.name": "What is my {} called?",
    "pet.*": "Do I have a {}?",
    "likes.*": "Do I like {}?",
    "favorite.*": "What is my favourite {}?",
    "owns.*": "Do I have a {}?",
    "own.*": "Which {} do I have?",
    "editor": "Which editor do I use?",
    "os": "Which operating system do I use?",
    "shell": "Which shell do I use?",
    "programming_language": "Which programming languages do I use?",
    "project.*": "Which {} do we use in the project?",
}


@dataclass(frozen=True, slots=True)
class Calibration:
    """A floor, and the shares (0..1) of true questions and of everyday prompts that pass it."""

    floor: float
    true: float
    false: float
    questions: int


def question(fact: Fact) -> str | None:
    """How its user would ask for a fact; None if its slot does not say, or it is not English."""
    slot = fact.slot
    if slot is None or fact.lang not in {None, "en"}:
        return None
    for name, asked in QUESTIONS.items():
        if (part := matches(name, slot)) is not None:
            return asked.format(part.replace("_", " "))
    return None


@cache
def everyday_prompts() -> tuple[str, ...]:
    """Prompts that need no memory."""
    text = files("app.memory").joinpath("everyday.txt").read_text("utf-8")
    return tuple(text.splitlines())


def fitted(true: Sequence[float], false: Sequence[float]) -> Calibration:
    """The floor between the relevance of true questions' facts and the best of everyday prompts.

    Raises `ConfigurationError` if there are too few to fit anything.
    """
    if len(true) < FEWEST:
        message = f"{len(true)} facts say how they are asked for; at least {FEWEST} are needed"
        raise ConfigurationError(message)
    ranked = sorted(true, reverse=True)
    floor = min(max(ranked[ceil(KEEP * len(ranked)) - 1], LOWEST), HIGHEST)
    floor = int(floor * 100) / 100  # down, so that none of those kept falls out
    return Calibration(floor, _share(true, floor), _share(false, floor), len(true))


def _share(found: Sequence[float], floor: float) -> float:
    return sum(relevance >= floor for relevance in found) / max(len(found), 1)


def keep(folder: Path, identity: str, found: Calibration) -> None:
    """Write it beside those of other encoders."""
    known = {**_read(folder), identity: asdict(found)}
    (folder / FILE).write_text(json.dumps(known, indent=1) + "\n")


def kept(folder: Path, identity: str) -> float | None:
    """The floor that was fitted for that encoder, if any. Raises `ConfigurationError`."""
    row = _read(folder).get(identity)
    floor = row.get("floor") if isinstance(row, dict) else None
    return float(floor) if isinstance(floor, int | float) else None


def _read(folder: Path) -> Mapping[str, object]:
    path = folder / FILE
    try:
        known = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except ValueError:
        raise ConfigurationError(f"{path}: not JSON; `remora calibrate` writes it anew") from None
    return known if isinstance(known, dict) else {}
