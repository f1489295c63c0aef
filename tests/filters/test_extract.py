from __future__ import annotations

from dataclasses import replace

import pytest

from app.domain import Fact, Learned, MemoryType, Policy, Source, Turn
from app.filters.extract import Find
from tests.build import ALICE, START

BLOCK = "\n\n<memory>\n- The user likes jazz.\n</memory>"
GIVEN = Turn("r", START, ALICE, Policy(extractor="echo"), Source(), "I like tea very much.", "Ok.")


async def echo(turn: Turn) -> tuple[Learned, ...]:
    return (Learned(Fact(turn.query), turn.query),)


@pytest.mark.requirement("M29")
async def test_a_block_that_came_back_is_not_read() -> None:
    given = replace(GIVEN, query=f"I like tea very much.{BLOCK}")
    done = await Find({"echo": echo}, episodes=True)(given)
    assert "jazz" not in str([item.fact.content for item in done.learned])
    assert done.learned[0].fact.content == "I like tea very much."


@pytest.mark.requirement("M30")
async def test_the_turn_itself_is_an_episode_unless_that_is_off() -> None:
    kept = await Find({"echo": echo}, episodes=True)(GIVEN)
    assert [item.fact.type for item in kept.learned] == [
        MemoryType.SEMANTIC,
        MemoryType.EPISODIC,
    ]
    off = await Find({"echo": echo}, episodes=False)(GIVEN)
    assert [item.fact.type for item in off.learned] == [MemoryType.SEMANTIC]
