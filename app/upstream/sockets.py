"""WebSockets to an upstream, over aiohttp (G17)."""

from __future__ import annotations

from typing import Final

import aiohttp

# Codes that say how a connection ended, but that no close frame may carry (RFC 6455, 7.4.1).
NO_STATUS: Final = 1005
UNSENDABLE: Final = frozenset({NO_STATUS, 1006, 1015})
NORMAL, GOING_AWAY, UPSTREAM_ERROR = 1000, 1001, 1011


class AiohttpSocket:
    """`app.ports.Socket` over aiohttp."""

    def __init__(self, connection: aiohttp.ClientWebSocketResponse) -> None:
        self._connection = connection
        self.subprotocol = connection.protocol

    async def receive(self) -> str | bytes | None:
        message = await self._connection.receive()
        if message.type in {aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY}:
            data: str | bytes = message.data
            return data
        return None

    async def send(self, data: str | bytes) -> None:
        try:
            if isinstance(data, str):
                await self._connection.send_str(data)
            else:
                await self._connection.send_bytes(data)
        except (aiohttp.ClientError, ConnectionError):
            pass  # it is gone: `receive` says so

    async def close(self, code: int) -> None:
        await self._connection.close(code=sendable(code, GOING_AWAY))

    @property
    def close_code(self) -> int:
        return sendable(self._connection.close_code or 0, UPSTREAM_ERROR)


def sendable(code: int, otherwise: int) -> int:
    """A close code that a frame may carry: the same one where that is possible."""
    if code == NO_STATUS:
        return NORMAL
    return code if 1000 <= code < 5000 and code not in UNSENDABLE else otherwise  # noqa: PLR2004 RFC
