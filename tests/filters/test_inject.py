from __future__ import annotations

import json
from dataclasses import replace
from uuid import uuid4

import pytest

from app.dialects.chat import ChatDialect
from app.domain import Admitted, Arrival, Block, Exchange, Placement, Policy
from app.filters.inject import Inject
from app.memory.extract import Asking
from tests.build import START, a_memory

dialect = ChatDialect()
inject = Inject({"chat": dialect}, lambda text: len(text.split()))
BODY = b'{"messages": [{"role":"user","content":"Which park?"}]}'
MEMORY = a_memory("The user's dog is called Rex.")
GIVEN = Exchange(
    "r",
    START,
    Arrival("POST", b"/", b"", ()),
    call=dialect.read(BODY),
    admitted=(Admitted(MEMORY, MEMORY.fact.content),),
)


@pytest.mark.requirement("M11", "M23")
async def test_what_is_said_of_the_block_is_what_the_body_holds() -> None:
    done = await inject(GIVEN)
    assert done.block is not None
    assert done.call is not None
    text = json.loads(done.call.body)["messages"][0]["content"]
    assert text == f"Which park?\n\n{done.block.text}"
    assert done.block.ids == (MEMORY.id,)
    assert done.block.tokens == len(done.block.text.split())


async def test_nothing_admitted_leaves_the_very_bytes() -> None:
    assert await inject(replace(GIVEN, admitted=())) == replace(GIVEN, admitted=())


async def test_nothing_that_fits_leaves_the_very_bytes() -> None:
    tight = replace(GIVEN, policy=Policy(max_tokens=3))
    assert await inject(tight) == tight


@pytest.mark.requirement("M24")
async def test_the_blocks_of_before_go_back_onto_their_turns() -> None:
    history = [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "yes?"},
        {"role": "user", "content": [{"type": "text", "text": "two"}]},
    ]
    call = dialect.read(json.dumps({"messages": history}).encode())
    first, second = call.turns
    before = Block("<memory>before</memory>", (), 5)
    given = replace(
        GIVEN, call=replace(call, turns=(replace(first, block=before), second)), admitted=()
    )
    done = await inject(given)
    assert done.block is None
    assert [(p.turn.place, p.block, p.replayed) for p in done.blocks] == [(0, before, True)]
    both = await inject(replace(given, admitted=GIVEN.admitted))
    assert [(p.turn.place, p.replayed) for p in both.blocks] == [(0, True), (2, False)]
    assert both.call is not None
    texts = [message["content"] for message in json.loads(both.call.body)["messages"]]
    assert texts[0] == f"one\n\n{before.text}"
    assert both.block is not None
    assert texts[2][1] == {"type": "text", "text": both.block.text}


@pytest.mark.requirement("M24")
async def test_a_turn_that_comes_anew_keeps_its_block_if_it_says_the_same() -> None:
    assert GIVEN.call is not None
    (turn,) = GIVEN.call.turns
    for ids, kept in (((MEMORY.id,), True), ((MEMORY.id, uuid4()), False), ((), False)):
        before = Block("<memory>before</memory>", ids, 5)
        call = replace(GIVEN.call, turns=(replace(turn, block=before),))
        (placed,) = (await inject(replace(GIVEN, call=call))).blocks
        assert (placed.replayed, placed.block == before) == (kept, kept)
        (alone,) = (await inject(replace(GIVEN, call=call, admitted=()))).blocks
        assert (alone.replayed, alone.block) == (True, before)


ASKING = Asking(1)
asker = Inject({"chat": dialect}, lambda text: len(text.split()), ASKING)
ASKED = replace(GIVEN, policy=Policy(extractor="inline"))


def text_of(exchange: Exchange) -> str:
    assert exchange.call is not None
    return str(json.loads(exchange.call.body)["messages"][-1]["content"])


@pytest.mark.requirement("M28", "M23")
async def test_what_asks_for_markers_stands_behind_the_memories_or_alone() -> None:
    ask = ASKING.text("")
    both = await asker(ASKED)
    plain = await inject(GIVEN)
    assert both.block is not None
    assert plain.block is not None
    assert text_of(both) == f"{text_of(plain)}\n\n{ask}"
    assert (both.block.ids, both.block.tokens) == (plain.block.ids, plain.block.tokens)
    alone = await asker(replace(ASKED, admitted=()))
    assert text_of(alone) == f"Which park?\n\n{ask}"
    assert alone.block == Block(ask, (), 0)


@pytest.mark.requirement("M28")
async def test_a_turn_is_asked_once_and_in_the_same_words() -> None:
    assert ASKED.call is not None
    (turn,) = ASKED.call.turns
    for text, again in (("<memory>x</memory>", False), ("<remora-ask>x</remora-ask>", True)):
        before = Block(text, (uuid4(),), 5)
        call = replace(ASKED.call, turns=(replace(turn, block=before),))
        (placed,) = (await asker(replace(ASKED, call=call, admitted=()))).blocks
        assert placed.replayed is again
        assert placed.block.text.startswith(text)
        assert placed.block.text.count("<remora-ask>") == 1
        assert (placed.block.ids, placed.block.tokens) == (before.ids, 5)


@pytest.mark.requirement("M28")
async def test_nothing_is_asked_where_nothing_is_learned_or_there_is_no_room() -> None:
    assert ASKED.call is not None
    call = ASKED.call
    quiet = replace(ASKED, admitted=())
    for given in (
        replace(quiet, policy=Policy(extractor="heuristic")),
        replace(quiet, policy=Policy(extractor="inline", write=False)),
        replace(quiet, call=replace(call, roomy=False)),
        replace(quiet, call=replace(call, query="Thanks!")),
        replace(quiet, call=replace(call, fresh=False)),  # it would have its block
    ):
        assert await asker(given) == given
    current = Policy(extractor="inline", placement=Placement.CURRENT_TURN)
    looped = replace(quiet, policy=current, call=replace(call, fresh=False))
    assert "<remora-ask>" in text_of(await asker(looped))
