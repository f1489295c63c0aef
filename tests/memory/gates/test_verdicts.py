from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain import Candidate, Policy, State
from app.memory.gates import GATES, GateSettings
from tests.build import a_memory, later

NOW = later(3600)
SETTINGS = GateSettings(
    count=lambda text: len(text.split()), floor=0.3, block=(re.compile("salary"),)
)
WORDS = ("tea", "salary", "Rex", "Porto", "night shifts", "peanuts")


def candidate(content: str, relevance: float, **given: Any) -> Candidate:
    return Candidate(a_memory(content, **given), {"relevance": relevance, "fused": relevance})


@pytest.mark.requirement("M19")
def test_every_rule_is_named_by_what_fell_to_it() -> None:
    found = [
        candidate("The user lives in Porto.", 0.7, slot="home_city", at=later(5)),
        candidate("The user lives in Boston.", 0.8, slot="home_city", at=later(0)),
        candidate("The user's dog is called Rex.", 0.6),
        candidate("The user's dog is called Rex!", 0.59),
        candidate("The user's salary is secret.", 0.9),
        candidate("The user waits for a person.", 0.9, state=State.PENDING),
        candidate("Nothing to do with it.", 0.1),
        candidate("The user drinks tea.", 0.58),
    ]
    verdicts = GATES["heuristic"](SETTINGS).explain(Policy(limit=2), found, NOW)
    assert {v.memory.fact.content: v.reason for v in verdicts} == {
        "The user lives in Porto.": None,
        "The user's dog is called Rex.": None,
        "The user lives in Boston.": "slot",
        "The user's dog is called Rex!": "duplicate",
        "The user's salary is secret.": "blocked",
        "The user waits for a person.": "state",
        "Nothing to do with it.": "relevance",
        "The user drinks tea.": "budget",
    }
    assert [v.reason for v in verdicts[:2]] == [None, None]


@pytest.mark.requirement("M19")
@pytest.mark.parametrize("name", sorted(GATES))
@given(
    found=st.lists(st.tuples(st.sampled_from(WORDS), st.floats(0, 1), st.booleans()), max_size=30),
    limit=st.integers(1, 6),
    tokens=st.integers(32, 200),
)
def test_what_is_explained_is_what_happens(
    name: str, found: list[tuple[str, float, bool]], limit: int, tokens: int
) -> None:
    gate = GATES[name](SETTINGS)
    candidates = [
        candidate(f"The user and {word}, {place % 7}.", cosine, pinned=pinned)
        for place, (word, cosine, pinned) in enumerate(found)
    ]
    policy = Policy(limit=limit, max_tokens=tokens)
    admitted = [item.memory.id for item in gate(policy, candidates, NOW)]
    verdicts = gate.explain(policy, candidates, NOW)
    assert [v.memory.id for v in verdicts if v.reason is None] == admitted
    assert {v.memory.id for v in verdicts} == {c.memory.id for c in candidates}
