"""WebSockets under /v1 (`/v1/realtime`), relayed both ways; without memory (G17)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs

import orjson
import structlog

from app.domain import Arrival, Exchange, utc_now
from app.errors import RejectedError, UpstreamError
from app.pipeline import Step, run
from app.ports import Outgoing, Socket, Upstream
from app.routes.answer import own_headers
from app.routes.passage import JSON, error_body, new_id, route_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import Receive, Scope, Send

_log = structlog.get_logger()
# Browsers cannot set headers on a WebSocket: OpenAI takes a key as a subprotocol of this name.
KEY_PROTOCOL: Final = "openai-insecure-api-key."
NO_STATUS: Final = 1005


class Realtime:
    """The ASGI application for WebSockets."""

    def __init__(self, inbound: Sequence[Step[Exchange]], upstream: Upstream) -> None:
        self._inbound = inbound
        self._upstream = upstream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()  # websocket.connect
        arrival, subprotocols = _arrive(scope)
        began = perf_counter()
        exchange = Exchange(new_id(), utc_now(), arrival)
        status, upstream = 101, None
        try:
            exchange = await run(self._inbound, exchange)
            exchange = replace(exchange, policy=replace(exchange.policy, reason="websocket"))
            seconds = perf_counter() - began
            socket, upstream = await self._upstream.connect(_outgoing(exchange), subprotocols)
            own = own_headers(exchange, seconds, upstream)
            accept = {"type": "websocket.accept", "subprotocol": socket.subprotocol}
            await send(accept | {"headers": own})
            await _relay(socket, receive, send)
        except (RejectedError, UpstreamError) as error:
            status = error.status
            await _refuse(send, error, own_headers(exchange, perf_counter() - began))
        finally:
            ms = round((perf_counter() - began) * 1000, 1)
            route = route_of(arrival)
            _log.info(
                "websocket", id=exchange.id, route=route, upstream=upstream, status=status, ms=ms
            )


async def _relay(socket: Socket, receive: Receive, send: Send) -> None:
    """Both ways until either side closes; the other is closed with the same code."""

    async def upwards() -> None:
        while (message := await receive())["type"] != "websocket.disconnect":
            text = message.get("text")
            await socket.send(message["bytes"] if text is None else text)
        await socket.close(message.get("code", NO_STATUS))

    async def downwards() -> None:
        while (data := await socket.receive()) is not None:
            kind = "text" if isinstance(data, str) else "bytes"
            await send({"type": "websocket.send", kind: data})
        await send({"type": "websocket.close", "code": socket.close_code})

    tasks = [asyncio.create_task(upwards()), asyncio.create_task(downwards())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await socket.close(NO_STATUS)


async def _refuse(
    send: Send, error: RejectedError | UpstreamError, own: list[tuple[bytes, bytes]]
) -> None:
    headers = [JSON, *own]
    await send(
        {"type": "websocket.http.response.start", "status": error.status, "headers": headers}
    )
    await send({"type": "websocket.http.response.body", "body": orjson.dumps(error_body(error))})


def _outgoing(exchange: Exchange) -> Outgoing:
    arrival, identity = exchange.arrival, exchange.identity
    consumed = identity.consumed if identity else None
    return Outgoing(
        method="GET",
        path=arrival.path,
        query=arrival.query,
        headers=arrival.headers,
        body=b"",
        model=parse_qs(arrival.query.decode("latin-1")).get("model", [""])[0],
        consumed=consumed.encode() if consumed else None,
        wanted=arrival.header(b"x-remora-upstream"),
    )


def _arrive(scope: Scope) -> tuple[Arrival, list[str]]:
    """The handshake as the filters read it, with a key in a subprotocol as the header it means."""
    client = scope.get("client")
    headers = [h for h in scope["headers"] if h[0] != b"sec-websocket-protocol"]
    subprotocols = []
    for name in scope.get("subprotocols", ()):
        if name.startswith(KEY_PROTOCOL):
            key = name.removeprefix(KEY_PROTOCOL)
            headers.append((b"authorization", f"Bearer {key}".encode()))
        else:
            subprotocols.append(name)
    peer = client[0] if client else ""
    path, query = scope["raw_path"], scope["query_string"]
    return Arrival("GET", path, query, tuple(headers), peer), subprotocols
