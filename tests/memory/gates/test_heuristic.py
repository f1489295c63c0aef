from __future__ import annotations

import re
from typing import Any

import pytest

from app.domain import Candidate, Policy, State
from app.memory.gates import GATES, GateSettings
from app.memory.gates.heuristic import HeuristicGate
from tests.build import a_memory, later

NOW = later(3600)
SETTINGS = GateSettings(count=lambda text: len(text.split()), floor=0.3)
gate = HeuristicGate(SETTINGS)


def candidate(content: str, relevance: float, **given: Any) -> Candidate:
    return Candidate(a_memory(content, **given), {"relevance": relevance, "fused": relevance})


@pytest.mark.requirement("M19")
def test_all_rules_together() -> None:
    found = [
        candidate("The user lives in Boston.", 0.8, slot="home_city", at=later(0)),
        candidate("The user lives in Porto.", 0.7, slot="home_city", at=later(5)),
        candidate("The user's dog is called Rex.", 0.6),
        candidate("The user's dog is called Rex!", 0.59),
        candidate("The user's salary is secret.", 0.9),
        candidate("The user waits for a person.", 0.9, state=State.PENDING),
        candidate("Nothing to do with it.", 0.1),
    ]
    strict = HeuristicGate(
        GateSettings(SETTINGS.count, SETTINGS.floor, block=(re.compile("salary"),))
    )
    admitted = strict(Policy(), found, NOW)
    assert [item.text for item in admitted] == [
        "The user lives in Porto.",
        "The user's dog is called Rex.",
    ]


def test_the_policys_threshold_and_limit_count() -> None:
    found = [candidate(f"Fact number {n}.", 0.4) for n in range(9)]
    assert len(gate(Policy(limit=2), found, NOW)) == 2
    assert gate(Policy(threshold=0.5), found, NOW) == ()


def test_the_same_candidates_read_the_same_in_any_order() -> None:
    found = [candidate(f"Fact number {n}.", 0.4 + n % 3 / 10) for n in range(30)]
    assert gate(Policy(), found, NOW) == gate(Policy(), found[::-1], NOW)


@pytest.mark.requirement("M21")
def test_work_is_bounded_for_many_candidates() -> None:
    """The time itself is measured in bench/gate.py; here: how much is looked at."""
    counted = 0

    def count(text: str) -> int:
        nonlocal counted
        counted += 1
        return len(text.split())

    found = [candidate(f"Fact number {n} " + "word " * n, 0.9) for n in range(200)]
    HeuristicGate(GateSettings(count, 0.3))(Policy(limit=12), found, NOW)
    assert counted < 200


def test_every_registered_gate_withholds_what_is_not_active() -> None:
    hidden = [candidate("x", 0.9, state=state) for state in State if state is not State.ACTIVE]
    for make in GATES.values():
        assert make(SETTINGS)(Policy(), hidden, NOW) == ()
