from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx
import pytest
from starlette.responses import Response

from app.routes.front import Front, Rooms
from tests.routes.conftest import Serve
from tests.scripted import ScriptedUpstream

ANY: Any = None
PAGE = "https://chat.example"


def front(taken: list[str], origins: Sequence[str] = ()) -> Front:
    def app(name: str) -> Any:
        async def take(scope: Any, receive: Any, send: Any) -> None:
            taken.append(name)
            if scope["type"] == "http":
                await Response(name)(scope, receive, send)

        return take

    return Front(Rooms(app("proxy"), app("sockets"), app("rest")), origins, lambda _: None)


@pytest.mark.parametrize(
    ("path", "kind", "taken_by"),
    [
        ("/v1/chat/completions", "http", "proxy"),
        ("/v1/models", "http", "proxy"),
        ("/v1/memoryless", "http", "proxy"),
        ("/v1/realtime", "websocket", "sockets"),
        ("/v1/memory", "http", "rest"),
        ("/v1/memory/search", "http", "rest"),
        ("/healthz", "http", "rest"),
        ("/", "http", "rest"),
        ("/ws", "websocket", "rest"),
    ],
)
async def test_who_takes_what(path: str, kind: str, taken_by: str) -> None:
    taken: list[str] = []

    async def send(_: object) -> None:
        pass

    await front(taken)({"type": kind, "path": path}, ANY, send)
    assert taken == [taken_by]


@pytest.mark.requirement("G21")
async def test_web_pages_may_not_call_unless_configured(
    serve: Serve, upstream: ScriptedUpstream
) -> None:
    client = await serve()
    asked = {"Origin": PAGE, "Access-Control-Request-Method": "POST"}
    answer = await client.options("/v1/chat/completions", headers=asked)
    assert "access-control-allow-origin" not in answer.headers
    assert upstream.last.method == "OPTIONS"


@pytest.mark.requirement("G21")
async def test_configured_web_pages_may_call_and_read_our_headers(
    serve: Serve, upstream: ScriptedUpstream
) -> None:
    client: httpx.AsyncClient = await serve(server={"cors_origins": [PAGE]})
    asked = {
        "Origin": PAGE,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization, x-memory",
    }
    preflight = await client.options("/v1/chat/completions", headers=asked)
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == PAGE
    assert "x-memory" in preflight.headers["access-control-allow-headers"]
    assert upstream.requests == []
    other = await client.options("/v1/chat/completions", headers=asked | {"Origin": "https://x"})
    assert "access-control-allow-origin" not in other.headers
    body = {"messages": [{"role": "user", "content": "Hello there"}]}
    answer = await client.post("/v1/chat/completions", json=body, headers={"Origin": PAGE})
    assert answer.headers["access-control-allow-origin"] == PAGE
    assert "X-Memory-Status" in answer.headers["access-control-expose-headers"]
