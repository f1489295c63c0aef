from __future__ import annotations

import pytest

from app.dialects.chat import ChatDialect
from app.domain import Arrival, Call, Exchange
from app.errors import RejectedError
from app.filters.read import Read
from tests.build import START

read = Read({"chat": ChatDialect()})
ARRIVAL = Arrival("POST", b"/v1/chat/completions", b"", ())


async def test_bytes_get_a_meaning() -> None:
    body = b'{"model":"m","messages":[{"role":"user","content":"hi"}]}'
    done = await read(Exchange("r", START, ARRIVAL, Call("chat", "", body)))
    assert done.call is not None
    assert (done.call.query, done.call.body) == ("hi", body)


async def test_other_paths_pass_unread() -> None:
    given = Exchange("r", START, ARRIVAL)
    assert await read(given) is given


async def test_bad_input_ends_here() -> None:
    with pytest.raises(RejectedError):
        await read(Exchange("r", START, ARRIVAL, Call("chat", "", b"{")))
