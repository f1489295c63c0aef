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
    names = ("relevance", "bm25", "fused", "cue", "coverage", "order", "pinned_score")
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
        ({"relevance": 0.35}, True),
        ({"relevance": 0.29, "bm25": 50, "fused": 0.99}, False),  # rank does not admit
        ({"relevance": 0.25, "coverage": 0.5}, True),
        ({"relevance": 0.25, "coverage": 0.4}, False),
        ({"relevance": 0.1, "coverage": 1}, False),
        ({"relevance": 0.0, "cue": 1}, True),
        ({"relevance": 0.0, "pinned": True}, True),
        ({}, False),
    ],
)
def test_relevance_admits(given: dict[str, Any], *, admitted: bool) -> None:
    assert bool(rules.relevant([candidate(**given)], 0.3)) is admitted


@pytest.mark.requirement("M16")
def test_beside_a_fact_that_answers_what_only_shares_its_subject_is_kept_out() -> None:
    answer, near, far = (candidate(relevance=r) for r in (0.8, 0.41, 0.39))
    assert rules.relevant([answer, near, far], 0.3) == [answer, near]
    assert rules.relevant([far], 0.3) == [far]
    cued = candidate(relevance=0.1, cue=1)
    assert cued in rules.relevant([answer, cued], 0.3)


@pytest.mark.requirement("M16")
def test_an_excerpt_of_the_same_question_does_not_shut_out_the_answer() -> None:
    asked = candidate("Where do I live?", relevance=1.0, type=MemoryType.EPISODIC)
    fact = candidate("The user lives in Lisbon.", relevance=0.45)
    other = candidate("We talked about Lisbon.", relevance=0.35, type=MemoryType.EPISODIC)
    assert rules.relevant([asked, fact, other], 0.3) == [asked, fact, other]


def order_of(*candidates: Candidate) -> list[float]:
    """The `order` that a gate gives each."""
    found = {c.memory.id: c.scores["order"] for c in rules.ranked(candidates, START, RULES)}
    return [found[c.memory.id] for c in candidates]


@pytest.mark.requirement("M19")
def test_episodes_fade_and_facts_do_not() -> None:
    old = START - timedelta(days=90)
    fact = candidate(fused=0.8, valid_from=old, importance=0)
    episode = candidate(fused=0.8, valid_from=old, importance=0, type=MemoryType.EPISODIC)
    unborn = candidate(fused=0.8, valid_from=NOW, importance=0, type=MemoryType.EPISODIC)
    lost = Weights().recency / 2
    # Age decides between equals, not between what is asked for and what is not.
    assert 0 < lost < 0.05
    assert order_of(fact, episode, unborn) == pytest.approx([0.8, 0.8 * (1 - lost), 0.8])


@pytest.mark.requirement("M16")
def test_of_equals_the_one_about_whom_the_question_names_comes_first() -> None:
    plain, named = candidate(fused=0.5), candidate(fused=0.5)
    named = Candidate(named.memory, {**named.scores, "named": 1.0})
    order = rules.ranked([plain, named], NOW, RULES)
    assert [c.memory.id for c in order] == [named.memory.id, plain.memory.id]


@pytest.mark.requirement("M16")
def test_excerpts_of_the_conversation_that_was_about_it_come_before_their_equals() -> None:
    def said(fused: float, conversation: str | None) -> Candidate:
        episode = MemoryType.EPISODIC
        return candidate(
            fused=fused, importance=0, type=episode, conversation_id=conversation, at=START
        )

    best, beside, elsewhere, nowhere = (
        said(0.9, "a"), said(0.5, "a"), said(0.5, "b"), said(0.5, None),
    )  # fmt: skip
    share = Weights().session
    assert order_of(best, beside, elsewhere, nowhere) == pytest.approx(
        [0.9 + share * 0.9, 0.5 + share * 0.9, 0.5 + share * 0.5, 0.5]
    )


def test_pinned_then_better_comes_first_and_ties_are_stable() -> None:
    made = [candidate(fused=f, pinned=p) for f, p in ((0.1, False), (2.9, False), (0.0, True))]
    order = rules.ranked(made, NOW, RULES)
    assert [c.memory.id for c in order] == [made[i].memory.id for i in (2, 1, 0)]
    tied = [candidate(fused=0.5) for _ in range(5)]
    assert rules.in_order(tied) == rules.in_order(tied[::-1])


@pytest.mark.requirement("M16")
def test_a_large_drop_cuts_but_never_the_first_few() -> None:
    def kept(*found: float) -> int:
        return len(rules.cut_at_gap([candidate(relevance=r) for r in found]))

    assert kept(0.9, 0.85, 0.8, 0.4, 0.39) == 3
    assert kept(0.9, 0.4, 0.39) == 3  # a question may touch several unequally
    assert kept(0.6, 0.55, 0.5, 0.45, 0.4) == 5
    assert kept() == 0


def test_what_is_pinned_is_not_cut() -> None:
    pinned = candidate(relevance=0.0, pinned=True)
    rest = [candidate(relevance=c) for c in (0.9, 0.85, 0.8, 0.4)]
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
