from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from app.domain import Arrival, Block, Call, Exchange, Note, Placed, Policy, UserTurn
from app.routes.answer import memory_status, own_headers
from tests.build import START

CALL = Call("chat", "m", b"")
BASE = Exchange("req_1", START, Arrival("POST", b"/", b"", ()), CALL)
BLOCK = Block("<memory>secret</memory>", (UUID(int=1), UUID(int=2)), 41)
ASK_ALONE = (Placed(UserTurn(0, "k"), Block("<remora-ask>…</remora-ask>", (), 0)),)
BLOCKS = (Placed(UserTurn(0, "k"), BLOCK),)


@pytest.mark.requirement("M11")
@pytest.mark.parametrize(
    ("exchange", "status"),
    [
        (replace(BASE, blocks=BLOCKS), "injected"),
        (BASE, "none"),
        (replace(BASE, blocks=ASK_ALONE), "none"),
        (replace(BASE, policy=Policy(read=False, reason="path")), "skipped:path"),
        (replace(BASE, policy=Policy(read=False, reason="client")), "skipped:client"),
        (replace(BASE, notes=(Note("recall", "late", 0.3),)), "skipped:recall_late"),
        (replace(BASE, notes=(Note("inject", "failed", 0.1),)), "skipped:inject_failed"),
        (replace(BASE, notes=(Note("identity", "ok", 0.1),)), "none"),
    ],
)
def test_every_answer_says_what_happened(exchange: Exchange, status: str) -> None:
    assert memory_status(exchange) == status


@pytest.mark.requirement("M11", "G23")
def test_the_headers_name_ids_tokens_and_times_and_no_content() -> None:
    notes = (Note("identity", "ok", 0.0001), Note("recall", "ok", 0.00444))
    headers = dict(own_headers(replace(BASE, blocks=BLOCKS, notes=notes), 0.0049))
    assert headers == {
        b"x-remora-request-id": b"req_1",
        b"x-memory-status": b"injected",
        b"x-memory-overhead-ms": b"4.9",
        b"server-timing": b"identity;dur=0.1, recall;dur=4.4",
        b"x-memory-ids": f"mem_{UUID(int=1).hex},mem_{UUID(int=2).hex}".encode(),
        b"x-memory-tokens": b"41",
    }


@pytest.mark.requirement("M11", "M24")
def test_replayed_blocks_count_too_and_each_memory_once() -> None:
    before = Placed(UserTurn(0, "k"), Block("…", (UUID(int=3), UUID(int=1)), 7), replayed=True)
    headers = dict(own_headers(replace(BASE, blocks=(before, *BLOCKS)), 0.0))
    ids = [f"mem_{number:032x}" for number in (3, 1, 2)]
    assert headers[b"x-memory-ids"].decode().split(",") == ids
    assert headers[b"x-memory-tokens"] == b"48"


@pytest.mark.requirement("M11", "M28")
def test_what_asks_for_markers_is_no_memory() -> None:
    headers = dict(own_headers(replace(BASE, blocks=ASK_ALONE), 0.0))
    assert headers[b"x-memory-status"] == b"none"
    assert headers.keys().isdisjoint({b"x-memory-ids", b"x-memory-tokens"})
