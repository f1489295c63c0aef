from __future__ import annotations

import asyncio
from typing import Any

import pytest

from app.errors import RejectedError
from app.routes.client import Client, ClientGoneError


class Wire:
    """An ASGI connection under the test's control."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self.incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.sent: list[Any] = []
        for message in messages:
            self.incoming.put_nowait(message)

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    def client(self, idle: float | None = None) -> Client:
        return Client(self.incoming.get, self.send, 100, idle)


def part(body: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


GONE = {"type": "http.disconnect"}


async def test_a_body_comes_whole_or_in_pieces() -> None:
    parts = (part(b"one", more=True), part(b"", more=True), part(b"two"))
    assert await Wire(*parts).client().body() == b"onetwo"
    assert [p async for p in Wire(*parts).client().stream()] == [b"one", b"two"]


async def test_a_body_over_the_limit_is_not_kept() -> None:
    client = Wire(part(b"x" * 60, more=True), part(b"x" * 60, more=True)).client()
    with pytest.raises(RejectedError) as caught:
        await client.body()
    assert caught.value.status == 413
    assert client.refused is caught.value


@pytest.mark.requirement("G5")
async def test_a_client_that_stops_sending_is_not_waited_for() -> None:
    client = Wire(part(b"x", more=True)).client(idle=0.02)
    with pytest.raises(RejectedError) as caught:
        await client.body()
    assert caught.value.status == 408
    assert client.refused is caught.value


async def test_without_a_body_the_watch_begins_at_once() -> None:
    wire = Wire()
    client = wire.client()
    client.expects_no_body()
    wire.incoming.put_nowait(GONE)
    async with asyncio.timeout(5), client.watched():
        await asyncio.sleep(60)
    assert client.gone


async def test_a_client_that_leaves_while_it_sends_is_noticed() -> None:
    client = Wire(part(b"x", more=True), GONE).client()
    with pytest.raises(ClientGoneError):
        await client.body()
    assert client.gone


async def test_work_ends_quietly_when_the_client_leaves() -> None:
    wire = Wire(part(b"x"))
    client = wire.client()
    await client.body()
    cleaned = False

    async def leave() -> None:
        await asyncio.sleep(0.05)
        wire.incoming.put_nowait(GONE)

    leaving = asyncio.create_task(leave())
    async with asyncio.timeout(5), client.watched():
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)  # clean-up may still wait
            cleaned = True
    await leaving
    assert client.gone
    assert cleaned


async def test_a_cancellation_that_is_not_the_clients_passes() -> None:
    client = Wire(part(b"x")).client()
    await client.body()

    async def work() -> None:
        async with client.watched():
            await asyncio.sleep(60)

    task = asyncio.create_task(work())
    await asyncio.sleep(0.03)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not client.gone


async def test_a_disconnect_after_the_end_is_no_disconnect() -> None:
    wire = Wire(part(b"x"))
    client = wire.client()
    await client.body()
    async with client.watched():
        await client.start(200, [(b"a", b"1")])
        await client.write(b"one")
        await asyncio.sleep(0.04)
        await client.finish(b"two")
        wire.incoming.put_nowait(GONE)
        await asyncio.sleep(0.01)
    assert not client.gone
    assert [m.get("body") for m in wire.sent] == [None, b"one", b"two"]
    assert [m.get("more_body") for m in wire.sent] == [None, True, False]
