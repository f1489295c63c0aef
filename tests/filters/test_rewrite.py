from __future__ import annotations

from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from app.domain import (
    Arrival,
    Block,
    Call,
    Exchange,
    Identity,
    Message,
    Placement,
    Policy,
    UserTurn,
)
from app.filters.rewrite import Rewrite
from app.memory.query import build_query
from app.memory.rewrite import Rewriter
from app.settings import RewriteSettings
from tests.build import ALICE, START
from tests.memory.test_chat_model import Scripted, ok

TURNS = (UserTurn(0, "k0", Block("b", (), 1)), UserTurn(2, "k2"))
CALL = Call(
    "chat", "m", b"", query="And its name?", recent=(Message("user", "I have a dog."),), turns=TURNS
)
ASKED = Exchange("r", START, Arrival("POST", b"/", b"", ()), CALL, Identity("acme", ALICE))


def rewrite(upstream: Scripted) -> Rewrite:
    return Rewrite(Rewriter(RewriteSettings(model="small"), upstream))


@pytest.mark.requirement("M14")
async def test_the_current_turn_is_searched_for_in_the_models_words() -> None:
    done = await rewrite(Scripted(ok("What is my dog called?")))(ASKED)
    assert done.call is not None
    assert build_query(done.call) == "What is my dog called?"
    assert done.call.query == "And its name?"
    assert done.call.turns == (TURNS[0], replace(TURNS[1], rewritten="What is my dog called?"))
    assert "dog" not in repr(done)


@pytest.mark.requirement("M12")
async def test_on_trouble_the_call_is_as_it_was_and_no_word_is_logged() -> None:
    with capture_logs() as logs:
        done = await rewrite(Scripted((500, b'{"error": "dog"}')))(ASKED)
    assert done is ASKED
    assert build_query(CALL) == "I have a dog.\nAnd its name?"
    assert logs == [{"event": "rewrite", "outcome": "failed", "id": "r", "log_level": "warning"}]


@pytest.mark.requirement("M5", "M10", "M13")
@pytest.mark.parametrize(
    "exchange",
    [
        replace(ASKED, policy=Policy(read=False)),
        replace(ASKED, policy=Policy(rewrite=False)),
        replace(ASKED, identity=None),
        replace(ASKED, call=None),
        replace(ASKED, call=replace(CALL, turns=())),
        replace(ASKED, call=replace(CALL, query="Thanks!")),
        replace(ASKED, call=replace(CALL, fresh=False)),
    ],
    ids=["unread", "policy", "nobody", "no call", "no turn", "small talk", "tool loop"],
)
async def test_where_nothing_is_searched_for_no_model_is_asked(exchange: Exchange) -> None:
    upstream = Scripted()
    assert await rewrite(upstream)(exchange) is exchange
    assert upstream.asked == []


async def test_a_tool_loop_that_recalls_anew_asks_anew() -> None:
    upstream = Scripted(ok("What is my dog called?"))
    policy = Policy(placement=Placement.CURRENT_TURN)
    await rewrite(upstream)(replace(ASKED, call=replace(CALL, fresh=False), policy=policy))
    assert len(upstream.asked) == 1
