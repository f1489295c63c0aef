"""Who is slow holds the other side back; nothing piles up in between (G4, G5)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.scripted import ScriptedUpstream, chunked
from tests.wire.conftest import Serve
from tests.wire.raw import Wire, wire

PIECE = b"x" * 65_536
# What fits into the sockets' buffers of three connections, with room to spare.
IN_FLIGHT = 24 << 20
ENDLESS = 200 << 20


@pytest.mark.requirement("G5")
async def test_an_upload_waits_for_an_upstream_that_does_not_read(serve: Serve) -> None:
    connections: list[asyncio.Transport] = []

    class Deaf(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            assert isinstance(transport, asyncio.Transport)
            transport.pause_reading()
            connections.append(transport)

    server = await asyncio.get_running_loop().create_server(Deaf, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    upstreams = [{"url": f"http://127.0.0.1:{port}/v1", "read_timeout": 1}]
    url = await serve(upstreams=upstreams, server={"body_limit_mb": 1000})
    sent = 0
    async with wire(url) as line:
        await line.send(f"POST /v1/files HTTP/1.1\nHost: h\nContent-Length: {ENDLESS}\n\n")

        async def upload() -> None:
            nonlocal sent
            while sent < ENDLESS:
                await line.send(PIECE)
                sent += len(PIECE)

        uploading = asyncio.create_task(upload())
        assert (await line.head()).status == 504  # and it is not waited for without end
        uploading.cancel()
    for transport in connections:
        transport.abort()
    server.close()
    assert sent < IN_FLIGHT


@pytest.mark.requirement("G12")
async def test_an_upstream_waits_for_a_client_that_does_not_read(
    line: Wire, upstream: ScriptedUpstream
) -> None:
    sent = 0

    async def flood(_: object) -> AsyncIterator[bytes]:
        nonlocal sent
        yield b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        while sent < ENDLESS:
            yield chunked(PIECE)
            sent += len(PIECE)

    upstream.script = flood
    await line.ask("GET /v1/files/x/content")
    line.reader._transport.pause_reading()  # type: ignore[attr-defined]
    before = -1
    while sent > before:
        before = sent
        await asyncio.sleep(0.5)
    assert 0 < sent < IN_FLIGHT
    line.abort()


@pytest.mark.requirement("G4", "G14")
@pytest.mark.parametrize("leaves", [True, False])
async def test_an_answer_may_begin_before_the_upload_is_over(serve: Serve, *, leaves: bool) -> None:
    received = 0
    ended = asyncio.Event()
    whole = 20 * len(PIECE)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal received
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        while received < whole and (data := await reader.read(len(PIECE))):
            received += len(data)
        writer.write(b"0\r\n\r\n")
        writer.close()
        ended.set()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    url = await serve(upstream_url=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
    async with wire(url) as line:
        await line.send(f"POST /v1/files HTTP/1.1\nHost: h\nContent-Length: {whole}\n\n", PIECE)
        assert (await line.head()).status == 200
        await asyncio.sleep(0.1)
        if leaves:
            line.abort()
        else:
            for _ in range(19):
                await line.send(PIECE)
            assert b"".join([chunk async for chunk in line.chunks()]) == b"hello"
        async with asyncio.timeout(2):
            await ended.wait()
    server.close()
    assert (received == whole) is not leaves
