from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest

from app.upstream.transport import AiohttpTransport
from tests.scripted import Recorded, ScriptedUpstream, events, http, scripted_upstream, stream


@pytest.fixture
async def upstream() -> AsyncIterator[ScriptedUpstream]:
    async with scripted_upstream() as scripted:
        yield scripted


@pytest.fixture
async def transport() -> AsyncIterator[AiohttpTransport]:
    made = AiohttpTransport()
    yield made
    await made.aclose()


async def ask(
    transport: AiohttpTransport,
    url: str,
    content: bytes | AsyncIterator[bytes] = b"{}",
    headers: list[tuple[bytes, bytes]] | None = None,
) -> tuple[int, bytes]:
    request = httpx.Request("POST", url, content=content, headers=headers)
    answer = await transport.handle_async_request(request)
    return answer.status_code, await answer.aread()


@pytest.mark.requirement("G4")
async def test_percent_encoding_stays_as_it_came(
    upstream: ScriptedUpstream, transport: AiohttpTransport
) -> None:
    await ask(transport, upstream.url + "/a%2Fb%41~?q=%7E+%20")
    assert upstream.last.target == b"/v1/a%2Fb%41~?q=%7E+%20"


@pytest.mark.requirement("G3")
async def test_no_header_is_added_but_host_and_length(
    upstream: ScriptedUpstream, transport: AiohttpTransport
) -> None:
    await ask(transport, upstream.url + "/x", headers=[(b"x-a", b"1"), (b"x-a", b"2")])
    names = sorted(name.lower() for name, _ in upstream.last.headers)
    assert names == [b"content-length", b"host", b"x-a", b"x-a"]


async def test_one_pool_serves_many_calls(
    upstream: ScriptedUpstream, transport: AiohttpTransport
) -> None:
    for _ in range(20):
        assert (await ask(transport, upstream.url + "/x"))[0] == 200
    assert upstream.connections == 1


async def test_errors_and_redirects_are_answers(
    upstream: ScriptedUpstream, transport: AiohttpTransport
) -> None:
    for status in ("302 Found", "429 Too Many", "529 Overloaded"):
        upstream.script = lambda _, s=status: http(b"<html>", s, "Location: /elsewhere")  # type: ignore[misc]
        assert await ask(transport, upstream.url + "/x") == (int(status[:3]), b"<html>")
    assert len(upstream.requests) == 3


@pytest.mark.requirement("G16")
async def test_a_connection_that_died_in_the_pool_is_recovered_from(
    transport: AiohttpTransport,
) -> None:
    dying = asyncio.Event()
    answered = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers one request a connection, then closes when the next one arrives."""
        nonlocal answered
        await reader.readuntil(b"\r\n\r\n")
        await reader.read(2)
        writer.write(http(b"ok"))
        answered += 1
        await writer.drain()
        await reader.read(1)
        dying.set()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/x"
    assert await ask(transport, url) == (200, b"ok")
    assert await ask(transport, url) == (200, b"ok")
    assert (answered, dying.is_set()) == (2, True)
    server.close()


async def test_a_fresh_connection_that_dies_is_not_tried_again(
    transport: AiohttpTransport,
) -> None:
    seen = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal seen
        await reader.readuntil(b"\r\n\r\n")
        seen += 1
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/x"
    with pytest.raises(httpx.RemoteProtocolError):
        await ask(transport, url)
    assert seen == 1
    server.close()


@pytest.mark.requirement("G15")
async def test_a_short_answer_is_an_error(
    upstream: ScriptedUpstream, transport: AiohttpTransport
) -> None:
    async def short(_: Recorded) -> AsyncIterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this"
        raise ConnectionResetError

    upstream.script = short
    with pytest.raises(httpx.RemoteProtocolError):
        await ask(transport, upstream.url + "/x")


async def test_nobody_there_is_a_connect_error(transport: AiohttpTransport) -> None:
    with pytest.raises(httpx.ConnectError):
        await ask(transport, "http://127.0.0.1:1/v1/x")
    with pytest.raises(httpx.ConnectError):
        await ask(transport, "http://nowhere.invalid/v1/x")


async def test_silence_is_a_read_timeout(
    upstream: ScriptedUpstream, transport: AiohttpTransport
) -> None:
    upstream.script = lambda _: stream([b"a", b"b"], pause=30)
    request = httpx.Request(
        "POST", upstream.url + "/x", extensions={"timeout": {"read": 0.05, "connect": 1}}
    )
    answer = await transport.handle_async_request(request)
    with pytest.raises(httpx.ReadTimeout):
        await answer.aread()
    await answer.aclose()


@pytest.mark.requirement("G14")
async def test_letting_go_of_an_answer_closes_its_connection(
    upstream: ScriptedUpstream, transport: AiohttpTransport
) -> None:
    upstream.script = lambda _: stream(events("a", "b") * 1000, pause=0.01)
    answer = await transport.handle_async_request(httpx.Request("POST", upstream.url + "/x"))
    await anext(aiter(answer.stream))  # type: ignore[arg-type]
    answer.stream.close()  # type: ignore[union-attr]
    async with asyncio.timeout(1):
        await upstream.last.closed.wait()
