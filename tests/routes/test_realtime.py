"""A WebSocket through a running Remora to an echoing upstream (the `websockets` library)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from tests.routes.conftest import Serve

pytestmark = pytest.mark.requirement("G17")


@dataclass
class Echo:
    """What reached the upstream; it answers in kind, and closes when told to."""

    url: str = ""
    handshakes: list[Request] = field(default_factory=list)
    closed_with: list[int | None] = field(default_factory=list)

    async def handle(self, connection: ServerConnection) -> None:
        try:
            async for message in connection:
                if message == "close":
                    await connection.close(4321, "as told")
                elif message == "die":
                    connection.transport.abort()
                else:
                    await connection.send(message)
        except ConnectionClosed:
            pass
        self.closed_with.append(connection.close_code)

    def look(self, connection: ServerConnection, request: Request) -> Response | None:
        self.handshakes.append(request)
        refused = "refuse" in request.path
        return connection.respond(403, "no") if refused else None


@pytest.fixture
async def echo() -> AsyncIterator[Echo]:
    found = Echo()
    protocols = [Subprotocol("realtime")]

    def choose(_: object, offered: Any) -> Any:
        return next((name for name in protocols if name in offered), None)

    async with serve(
        found.handle, "127.0.0.1", 0, process_request=found.look, select_subprotocol=choose
    ) as server:
        (socket,) = server.sockets
        found.url = f"http://127.0.0.1:{socket.getsockname()[1]}/v1"
        yield found


@pytest.fixture
async def url(serve: Serve, echo: Echo) -> str:
    client = await serve(upstream_url=echo.url)
    return str(client.base_url).replace("http:", "ws:") + "/v1/realtime?model=gpt-realtime"


KEY = {"Authorization": "Bearer sk-ana"}


async def test_messages_of_both_kinds_pass_both_ways(url: str, echo: Echo) -> None:
    async with connect(url, additional_headers=KEY | {"X-A": "1"}) as socket:
        for message in ("héllo 狗", b"\x00\xff", "", "x" * 1_000_000):
            await socket.send(message)
            assert await socket.recv() == message
        assert socket.response is not None
        assert socket.response.headers["x-memory-status"] == "skipped:websocket"
        assert socket.response.headers["x-remora-request-id"].startswith("req_")
    (handshake,) = echo.handshakes
    assert handshake.path == "/v1/realtime?model=gpt-realtime"
    assert handshake.headers["authorization"] == "Bearer sk-ana"
    assert handshake.headers["x-a"] == "1"


async def test_the_subprotocol_is_the_upstreams_choice(url: str) -> None:
    wanted = [Subprotocol("other"), Subprotocol("realtime")]
    async with connect(url, subprotocols=wanted, additional_headers=KEY) as socket:
        assert socket.subprotocol == "realtime"


async def test_a_browsers_key_is_a_credential_like_any_other(serve: Serve, echo: Echo) -> None:
    client = await serve(upstreams=[{"url": echo.url, "key": SecretStr("sk-paid")}])
    url = str(client.base_url).replace("http:", "ws:") + "/v1/realtime"
    protocols = [Subprotocol("realtime"), Subprotocol("openai-insecure-api-key.sk-ana")]
    async with connect(url, subprotocols=protocols):
        pass
    (handshake,) = echo.handshakes
    assert handshake.headers["authorization"] == "Bearer sk-paid"
    assert handshake.headers["sec-websocket-protocol"] == "realtime"
    assert "sk-ana" not in str(handshake.headers)


async def test_close_codes_pass_both_ways(url: str, echo: Echo) -> None:
    async with connect(url, additional_headers=KEY) as socket:
        await socket.send("close")
        with pytest.raises(ConnectionClosed):
            await socket.recv()
        assert socket.close_code == 4321
    socket = await connect(url, additional_headers=KEY)
    await socket.close(4001)
    async with asyncio.timeout(2):
        while len(echo.closed_with) < 2:
            await asyncio.sleep(0.01)
    assert echo.closed_with[1] == 4001


async def test_an_upstream_that_breaks_off_is_told(url: str) -> None:
    async with connect(url, additional_headers=KEY) as socket:
        await socket.send("die")
        with pytest.raises(ConnectionClosed):
            await socket.recv()
        assert socket.close_code == 1011


async def test_a_client_that_vanishes_takes_the_upstream_along(url: str, echo: Echo) -> None:
    socket = await connect(url, additional_headers=KEY)
    socket.transport.abort()
    async with asyncio.timeout(2):
        while not echo.closed_with:
            await asyncio.sleep(0.01)


async def test_a_refusal_and_a_wrong_key_are_http_answers(
    url: str, serve: Serve, tmp_path: Path
) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await connect(url + "&refuse", additional_headers=KEY)
    assert refused.value.response.status_code == 403
    assert b"websocket_refused" in refused.value.response.body
    with pytest.raises(InvalidStatus) as unknown:
        await connect(url, additional_headers={"Authorization": "Bearer rmk_bogus"})
    assert unknown.value.response.status_code == 401
    client = await serve(upstream_url="http://127.0.0.1:1/v1", data_dir=tmp_path / "other")
    down = str(client.base_url).replace("http:", "ws:") + "/v1/realtime"
    with pytest.raises(InvalidStatus) as unreachable:
        await connect(down, additional_headers=KEY)
    assert unreachable.value.response.status_code == 502
    assert b"upstream_unreachable" in unreachable.value.response.body
