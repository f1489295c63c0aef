"""Who takes which request: the proxy `/v1/*`, FastAPI everything else and our own `/v1/memory`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.types import Receive, Scope, Send

    from app.settings import Settings

# What a web page may read of an answer besides the usual.
EXPOSED: Final = (
    *("X-Remora-Request-Id", "X-Memory-Status", "X-Memory-Ids", "X-Memory-Tokens"),
    *("X-Memory-Overhead-Ms", "X-Upstream", "X-Request-Id", "Retry-After", "Server-Timing"),
)


@dataclass(frozen=True, slots=True)
class Rooms:
    """The applications behind the front."""

    proxy: ASGIApp
    sockets: ASGIApp
    rest: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """`/v1/*` to the proxy, everything else and our own `/v1/memory` to FastAPI."""
        path = scope.get("path", "")
        ours = path == "/v1/memory" or path.startswith("/v1/memory/")
        if not path.startswith("/v1/") or ours:
            await self.rest(scope, receive, send)
        elif scope["type"] == "websocket":
            await self.sockets(scope, receive, send)
        else:
            await self.proxy(scope, receive, send)


class Front:
    """The whole application; from web pages only where `origins` are given (G21).

    `reload` takes the keys of new settings, and the upstreams' keys from where they are kept;
    raises `ConfigurationError`, and then nothing has changed.
    """

    def __init__(
        self, rooms: Rooms, origins: Sequence[str], reload: Callable[[Settings], None]
    ) -> None:
        self._app: ASGIApp = rooms
        if origins:
            self._app = CORSMiddleware(
                rooms,
                allow_origins=origins,
                allow_methods=["*"],
                allow_headers=["*"],
                expose_headers=EXPOSED,
            )
        self.reload = reload

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)
