from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.domain import Answer, Arrival, Block, Call, Exchange, Identity, Placed, UserTurn, Where
from app.memory.stores.base import PayloadStore
from app.memory.stores.inmemory import InMemoryEngine
from app.ports import Store
from app.routes.learning import Learning
from app.spool import SqliteSpool
from tests.build import ALICE, KEY, START, a_memory, keep

DONE = Answer("Noted.", complete=True, finish="stop")
CALL = Call("chat", "m", b"", query="My dog is Rex.", turns=(UserTurn(0, "k"),))
GIVEN = Exchange(
    "req_1", START, Arrival("POST", b"/", b"", ()), CALL, Identity("acme", ALICE, app="cli")
)


@pytest.fixture
async def spool(tmp_path: Path) -> AsyncIterator[SqliteSpool]:
    opened = SqliteSpool(tmp_path / "spool.sqlite", max_waiting=10, keep_days=1)
    yield opened
    await opened.close()


@pytest.fixture
def store() -> Store:
    return PayloadStore(InMemoryEngine(), KEY)


@pytest.fixture
async def learning(spool: SqliteSpool, store: Store) -> AsyncIterator[Learning]:
    made = Learning(spool, store)
    yield made
    await made.close()


async def outcome(spool: SqliteSpool) -> str | None:
    receipt = await spool.receipt(ALICE, "req_1")
    return receipt.outcome if receipt else None


@pytest.mark.requirement("M26", "M27")
async def test_a_round_that_ended_properly_waits_to_be_learned(
    learning: Learning, spool: SqliteSpool
) -> None:
    await learning.keep(GIVEN, 200, DONE)
    (turn,) = await spool.due()
    assert (turn.id, turn.owner, turn.query, turn.answer) == (
        "req_1",
        ALICE,
        "My dog is Rex.",
        "Noted.",
    )
    assert (turn.source.app, turn.source.turn_key) == ("cli", ":k")


@pytest.mark.requirement("M26", "M27")
@pytest.mark.parametrize(
    ("status", "answer"),
    [(500, DONE), (302, DONE), (200, Answer("half")), (200, Answer("x", complete=False))],
)
async def test_any_other_round_has_its_receipt_at_once(
    learning: Learning, spool: SqliteSpool, status: int, answer: Answer
) -> None:
    await learning.keep(GIVEN, status, answer)
    assert await outcome(spool) == "skipped"
    assert spool.waiting == 0


async def test_only_the_first_and_the_last_step_of_a_tool_loop_are_kept(
    learning: Learning, spool: SqliteSpool
) -> None:
    calls = replace(DONE, finish="tool_calls")
    step = replace(GIVEN, call=replace(CALL, fresh=False))
    await learning.keep(step, 200, calls)
    assert spool.waiting == 0
    await learning.keep(step, 200, DONE)
    assert spool.waiting == 1
    await learning.keep(replace(GIVEN, id="req_2"), 200, calls)
    assert spool.waiting == 2


@pytest.mark.requirement("M5")
async def test_nobodys_round_is_not_kept(learning: Learning, spool: SqliteSpool) -> None:
    await learning.keep(replace(GIVEN, identity=None), 200, DONE)
    assert spool.waiting == 0


async def test_a_round_that_broke_off_gets_its_receipt_afterwards(
    learning: Learning, spool: SqliteSpool
) -> None:
    learning.skip(GIVEN)
    await learning.close()
    assert await outcome(spool) == "skipped"


@pytest.mark.requirement("M17")
async def test_uses_are_counted_together_and_by_owner(learning: Learning, store: Store) -> None:
    used, unused = a_memory("used"), a_memory("not used")
    await keep(store, used, unused)
    block = Block("x", (used.id,), 3)
    for _ in range(3):
        learning.used(replace(GIVEN, blocks=(Placed(UserTurn(0, "k"), block),)))
    learning.used(GIVEN)
    await learning.close()
    counts = {m.fact.content: m.usage.count for m in (await store.find(ALICE, Where())).memories}
    assert counts == {"used": 3, "not used": 0}


async def test_the_conversation_is_named_by_the_client(
    learning: Learning, spool: SqliteSpool
) -> None:
    arrival = Arrival("POST", b"/", b"", ((b"x-openwebui-chat-id", b"c-1"),))
    await learning.keep(replace(GIVEN, arrival=arrival), 200, DONE)
    (turn,) = await spool.due()
    assert (turn.source.conversation_id, turn.source.turn_key) == ("c-1", "c-1:k")


@pytest.mark.requirement("M28")
async def test_markers_go_with_the_turn_even_in_the_middle_of_a_tool_loop(
    learning: Learning, spool: SqliteSpool
) -> None:
    step = replace(GIVEN, call=replace(CALL, fresh=False))
    await learning.keep(step, 200, replace(DONE, finish="tool_calls", markers=("a\ud83d",)))
    (turn,) = await spool.due()
    assert turn.source.markers == ("a?",)


@pytest.mark.requirement("M28")
@pytest.mark.parametrize("markers", [None, (), ("none",)])
async def test_whether_markers_were_asked_for_is_kept_too(
    learning: Learning, spool: SqliteSpool, markers: tuple[str, ...] | None
) -> None:
    await learning.keep(GIVEN, 200, replace(DONE, markers=markers))
    (turn,) = await spool.due()
    assert turn.source.markers == markers


async def test_what_only_asks_for_markers_is_no_use(learning: Learning) -> None:
    ask = Placed(UserTurn(0, "k"), Block("<remora-ask>…</remora-ask>", (), 0))
    learning.used(replace(GIVEN, blocks=(ask,)))
    assert learning._uses == {}
