from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import pytest

from app.dialects.chat import ChatDialect
from app.domain import (
    Admitted,
    Arrival,
    Block,
    Exchange,
    Identity,
    Owner,
    Placed,
    Placement,
    Policy,
)
from app.filters.replay import Pin, Recheck, Replay, settled, shown
from tests.build import ALICE, START, a_memory, later

chat = ChatDialect()
HISTORY = [
    {"role": "user", "content": "one"},
    {"role": "assistant", "content": "yes?"},
    {"role": "user", "content": [{"type": "text", "text": "two"}]},
]
CALL = chat.read(json.dumps({"messages": HISTORY}).encode())
GIVEN = Exchange(
    "r", START, Arrival("POST", b"/", b"", ()), call=CALL, identity=Identity("acme", ALICE)
)
BLOCK = Block("<memory>…</memory>", (), 5)
TOOLS = [
    {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
    {"role": "tool", "tool_call_id": "1", "content": "rain"},
]


class Kept:
    """`app.ports.Pins` in a dict."""

    def __init__(self, *keys: str) -> None:
        self.blocks = dict.fromkeys(keys, BLOCK)
        self.until: datetime | None = None

    async def get(self, owner: Owner, keys: Sequence[str]) -> dict[str, Block]:
        assert owner == ALICE
        return {key: self.blocks[key] for key in keys if key in self.blocks}

    async def put(
        self, owner: Owner, key: str, block: Block, *, read: datetime, until: datetime | None
    ) -> None:
        assert (owner, read) == (ALICE, START)
        self.blocks[key] = block
        self.until = until


@pytest.mark.requirement("M24")
async def test_the_turns_get_the_blocks_that_they_had() -> None:
    first, second = CALL.turns
    done = await Replay(Kept(first.key, second.key))(GIVEN)
    assert done.call is not None
    assert done.call.turns == tuple(replace(turn, block=BLOCK) for turn in CALL.turns)
    assert (done.call.body, done.blocks) == (CALL.body, ())


@pytest.mark.parametrize(
    "given",
    [
        GIVEN,
        replace(GIVEN, policy=Policy(read=False)),
        replace(GIVEN, policy=Policy(placement=Placement.CURRENT_TURN)),
        replace(GIVEN, identity=None),
        replace(GIVEN, call=None),
    ],
)
async def test_else_the_very_bytes_stay(given: Exchange) -> None:
    pins = Kept() if given is GIVEN else Kept(*(turn.key for turn in CALL.turns))
    assert await Replay(pins)(given) == given


@pytest.mark.requirement("M24")
def test_in_a_tool_loop_nothing_is_recalled() -> None:
    looping = chat.read(json.dumps({"messages": HISTORY + TOOLS}).encode())
    step = replace(GIVEN, call=looping)
    assert (settled(GIVEN), settled(step)) == (False, True)
    assert not settled(replace(step, policy=Policy(placement=Placement.CURRENT_TURN)))


@pytest.mark.requirement("M24")
def test_a_turn_that_comes_anew_may_be_shown_the_same_again() -> None:
    first, second = CALL.turns
    given = replace(CALL, turns=(first, replace(second, block=BLOCK)))
    assert shown(given) == []
    assert shown(replace(given, fresh=False)) == [BLOCK]
    assert shown(replace(CALL, turns=(replace(first, block=BLOCK), second))) == [BLOCK]


@pytest.mark.requirement("M24", "M25")
async def test_a_new_block_is_kept_no_longer_than_it_is_true() -> None:
    forever, until = a_memory("a"), a_memory("b", valid_to=later(60))
    longer, left_out = a_memory("c", valid_to=later(90)), a_memory("d", valid_to=later(30))
    block = Block("…", (forever.id, until.id, longer.id), 5)
    turn = CALL.turns[-1]
    given = replace(
        GIVEN,
        admitted=tuple(Admitted(memory, "…") for memory in (forever, until, longer, left_out)),
        blocks=(Placed(turn, block),),
    )
    pins = Kept()
    assert await Pin(pins)(given) == given
    assert (pins.blocks, pins.until) == ({turn.key: block}, later(60))


async def test_nothing_is_kept_of_what_was_only_replayed_or_may_not_stay() -> None:
    turn = CALL.turns[-1]
    pins = Kept()
    await Pin(pins)(replace(GIVEN, blocks=(Placed(turn, BLOCK, replayed=True),)))
    once = Policy(placement=Placement.CURRENT_TURN)
    await Pin(pins)(replace(GIVEN, policy=once, blocks=(Placed(turn, BLOCK),)))
    assert pins.blocks == {}


@pytest.mark.requirement("M40")
async def test_what_is_forgotten_while_a_call_recalls_is_not_replayed() -> None:
    first, second = CALL.turns
    pins = Kept(first.key, second.key)
    given = await Replay(pins)(GIVEN)
    del pins.blocks[first.key]
    done = await Recheck(pins)(given)
    assert done.call is not None
    assert [turn.block for turn in done.call.turns] == [None, BLOCK]
    pins.blocks.clear()
    done = await Recheck(pins)(given)
    assert done.call is not None
    assert [turn.block for turn in done.call.turns] == [None, None]
    assert await Recheck(pins)(GIVEN) is GIVEN
