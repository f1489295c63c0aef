from __future__ import annotations

import gzip

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


def sent_as(encoding: str, body: bytes) -> Exchange:
    headers = ((b"content-encoding", encoding.encode()),)
    arrival = Arrival("POST", b"/v1/chat/completions", b"", headers)
    return Exchange("r", START, arrival, Call("chat", "", body))


@pytest.mark.requirement("G5")
async def test_a_compressed_body_is_read() -> None:
    body = b'{"model":"m","messages":[{"role":"user","content":"hi"}]}'
    done = await read(sent_as("gzip", gzip.compress(body)))
    assert done.call is not None
    assert (done.call.query, done.call.body) == ("hi", body)


@pytest.mark.parametrize("encoding", ["br", "gzip"])
async def test_what_cannot_be_unpacked_passes_unread(encoding: str) -> None:
    assert (await read(sent_as(encoding, b"??"))).call is None
