from __future__ import annotations

import pytest
from prometheus_client import REGISTRY

from app.domain import Fact, Learned, Policy, Source, Turn
from app.filters.guard import Guard
from tests.build import ALICE, START


def turn(*contents: str, query: str = "") -> Turn:
    learned = tuple(Learned(Fact(content), content) for content in contents)
    return Turn("r", START, ALICE, Policy(), Source(), query, learned=learned)


@pytest.mark.requirement("M32")
async def test_a_secret_is_dropped_and_counted_by_kind() -> None:
    given = turn("The user likes tea.", "The user's PIN is 4711.", query="My PIN is 4711.")
    done = await Guard(max_facts=5)(given)
    assert [item.fact.content for item in done.learned] == ["The user likes tea."]
    (kind,) = done.outcome.blocked
    assert (REGISTRY.get_sample_value("remora_blocked_total", {"kind": kind}) or 0) >= 1


@pytest.mark.requirement("M34")
async def test_one_turn_cannot_teach_without_bound() -> None:
    done = await Guard(max_facts=3)(turn(*(f"The user owns boat {n}." for n in range(9))))
    assert len(done.learned) == 3
