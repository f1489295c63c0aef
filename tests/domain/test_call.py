from __future__ import annotations

import pytest

from app.domain import Arrival, Call, Exchange, Identity, Owner, UserTurn
from tests.build import ALICE, START


def arrival(*headers: tuple[bytes, bytes]) -> Arrival:
    return Arrival("POST", b"/v1/chat/completions", b"key=XX", headers, "XX peer")


def test_a_header_is_the_first_of_its_name() -> None:
    found = arrival((b"x-memory", b"off"), (b"x-memory", b"on"), (b"x-memory-user", b"alice"))
    assert found.header(b"x-memory") == "off"
    assert found.header(b"x-memory-user") == "alice"
    assert found.header(b"x-other") is None


@pytest.mark.requirement("M8")
@pytest.mark.parametrize(
    ("raw", "text"), [("🦈".encode(), "🦈"), (b"caf\xe9", "café"), (b"", ""), (b"a|b@c", "a|b@c")]
)
def test_a_header_is_utf8_else_latin1(raw: bytes, text: str) -> None:
    assert arrival((b"x-memory-user", raw)).header(b"x-memory-user") == text


@pytest.mark.requirement("M5")
def test_an_exchange_has_the_owner_of_its_identity_if_any() -> None:
    exchange = Exchange("1", START, arrival())
    assert exchange.owner is None
    assert Exchange("1", START, arrival(), identity=Identity("acme", None)).owner is None
    assert Exchange("1", START, arrival(), identity=Identity("acme", ALICE)).owner is ALICE


def test_no_header_and_no_word_of_a_call_is_shown() -> None:
    turn = UserTurn(0, "k", rewritten="XX query")
    call = Call("chat", "gpt", b"XX body", query="XX query", turns=(turn,), end_user="XX user")
    identity = Identity("XX", Owner("XX", "XX"), "XX")
    for value in (arrival((b"authorization", b"XX")), call, identity):
        assert "XX" not in repr(value)
    whole = Exchange("1", START, arrival((b"cookie", b"XX")), call, identity)
    assert "XX" not in repr(whole)
