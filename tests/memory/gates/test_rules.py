from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest

from app.domain import Candidate, MemoryType, State
from app.memory.fusion import Weights
from app.memory.gates import rules
from tests.build import START, a_memory, later

NOW = later(3600)
RULES = rules.GateSettings(len, 0.3)


def candidate(content: str = "The user likes tea.", **given: Any) -> Candidate:
    names = ("cosine", "bm25", "fused", "cue", "coverage", "order", "pinned_score")
    scores = {name: float(given.pop(name)) for name in names if name in given}
    return Candidate(a_memory(content, **given), scores)


@pytest.mark.requirement("M2", "M19")
@pytest.mark.parametrize("state", State)
def test_only_active_memories_are_eligible(state: State) -> None:
    assert rules.eligible(a_memory("x", state=state), NOW) is (state is State.ACTIVE)


@pytest.mark.requirement("M19")
def test_what_is_no_longer_true_is_not_eligible() -> None:
    assert rules.eligible(a_memory("x", valid_to=later(3601)), NOW)
    assert not rules.eligible(a_memory("x", valid_to=NOW), NOW)


@pytest.mark.requirement("M19")
def test_the_operators_patterns_keep_out() -> None:
    patterns = (re.compile("(?i)salary"), re.compile("ssn"))
    assert rules.blocked(a_memory("The user's Salary is 10."), patterns)
    assert not rules.blocked(a_memory("The user likes tea."), patterns)


@pytest.mark.requirement("M16")
@pytest.mark.parametrize(
    ("given", "admitted"),
    [
        ({"cosine": 0.35}, True),
        ({"cosine": 0.29, "bm25": 50, "fused": 0.99}, False),  # rank does not admit
        ({"cosine": 0.2, "coverage": 0.5}, True),
        ({"cosine": 0.2, "coverage": 0.4}, False),
        ({"cosine": 0.1, "coverage": 1}, False),
        ({"cosine": 0.0, "cue": 1}, True),
        ({"cosine": 0.0, "pinned": True}, True),
        ({}, False),
    ],
)
def test_relevance_admits(given: dict[str, Any], *, admitted: bool) -> None:
    assert rules.relevant(candidate(**given), 0.3) is admitted


@pytest.mark.requirement("M19")
def test_episodes_fade_and_facts_do_not() -> None:
    old = START - timedelta(days=90)
    fact = candidate(fused=0.8, valid_from=old, importance=0)
    episode = candidate(fused=0.8, valid_from=old, importance=0, type=MemoryType.EPISODIC)
    assert rules.ranked(fact, START, RULES).scores["order"] == pytest.approx(0.8)
    lost = Weights().recency / 2
    aged = rules.ranked(episode, START, RULES).scores["order"]
    assert aged == pytest.approx(0.8 * (1 - lost))
    assert (
        0 < lost < 0.1
    )  # age decides between equals, not between what is asked for and what is not
    unborn = candidate(fused=0.8, valid_from=NOW, importance=0, type=MemoryType.EPISODIC)
    assert rules.ranked(unborn, START, RULES).scores["order"] == pytest.approx(0.8)


@pytest.mark.requirement("M16")
def test_of_equals_the_one_about_whom_the_question_names_comes_first() -> None:
    plain, named = candidate(fused=0.5), candidate(fused=0.5)
    named = Candidate(named.memory, {**named.scores, "named": 1.0})
    order = rules.in_order([rules.ranked(c, NOW, RULES) for c in (plain, named)])
    assert [c.memory.id for c in order] == [named.memory.id, plain.memory.id]


def test_pinned_then_better_comes_first_and_ties_are_stable() -> None:
    made = [candidate(fused=f, pinned=p) for f, p in ((0.1, False), (2.9, False), (0.0, True))]
    order = rules.in_order([rules.ranked(c, NOW, RULES) for c in made])
    assert [c.memory.id for c in order] == [made[i].memory.id for i in (2, 1, 0)]
    tied = [candidate(fused=0.5) for _ in range(5)]
    assert rules.in_order(tied) == rules.in_order(tied[::-1])


@pytest.mark.requirement("M16")
def test_a_large_drop_cuts_but_never_the_first_few() -> None:
    def kept(*cosines: float) -> int:
        return len(rules.cut_at_gap([candidate(cosine=c) for c in cosines]))

    assert kept(0.9, 0.85, 0.8, 0.4, 0.39) == 3
    assert kept(0.9, 0.4, 0.39) == 3  # a question may touch several unequally
    assert kept(0.6, 0.55, 0.5, 0.45, 0.4) == 5
    assert kept() == 0


def test_what_is_pinned_is_not_cut() -> None:
    pinned = candidate(cosine=0.0, pinned=True)
    rest = [candidate(cosine=c) for c in (0.9, 0.85, 0.8, 0.4)]
    assert pinned in rules.cut_at_gap([*rest, pinned])


@pytest.mark.requirement("M19")
def test_near_copies_are_shown_once_but_numbers_and_negations_count() -> None:
    texts = [
        "The user's budget for the Hawaii trip in May is ten thousand.",
        "The user's budget for the Hawaii trip in May is ten thousand!",
        "The user's budget for the Hawaii trip in May is 10 thousand.",
        "The user's budget for the Hawaii trip in May is 20 thousand.",
        "The user's budget for the Hawaii trip in May is not 20 thousand.",
    ]
    kept = rules.without_duplicates([candidate(text) for text in texts])
    assert [c.memory.fact.content for c in kept] == [texts[0], *texts[2:]]


@pytest.mark.requirement("M19")
def test_one_value_a_slot_the_newest_valid_one() -> None:
    boston = candidate("The user lives in Boston.", slot="home_city", at=later(0))
    moved = {"at": later(9), "valid_from": later(-99)}  # "I moved last month"
    porto = candidate("The user lives in Porto.", slot="home_city", **moved)
    other = candidate("The user likes tea.")
    assert rules.newest_per_slot([boston, other, porto]) == [other, porto]


def test_a_slot_of_many_values_keeps_them() -> None:
    nuts = candidate("The user is allergic to nuts.", slot="allergy")
    milk = candidate("The user is allergic to milk.", slot="allergy")
    assert rules.newest_per_slot([nuts, milk]) == [nuts, milk]
