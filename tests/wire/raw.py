"""A client that sends and receives nothing but bytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

CHAT: Final = "POST /v1/chat/completions"
PATIENCE: Final = 20.0


@dataclass(frozen=True, slots=True)
class Head:
    """The head of an answer."""

    status: int
    lines: tuple[bytes, ...]

    def all(self, name: str) -> list[str]:
        """The values of a header, in their order."""
        pairs = (line.partition(b":") for line in self.lines)
        return [v.strip().decode() for k, _, v in pairs if k.lower() == name.lower().encode()]

    def one(self, name: str) -> str:
        """The only value of a header."""
        (value,) = self.all(name)
        return value


class Wire:
    """One connection to a running Remora."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, *parts: bytes | str) -> None:
        """Send bytes as they are; text with its line ends made CRLF."""
        for part in parts:
            data = part.replace("\n", "\r\n").encode() if isinstance(part, str) else part
            self.writer.write(data)
        await self.writer.drain()

    async def ask(self, line: str, body: bytes = b"", *headers: str) -> None:
        """Send a whole request with a length."""
        told = [*headers, f"Content-Length: {len(body)}"] if body else list(headers)
        fields = "".join(f"{header}\n" for header in ("Host: remora", *told))
        await self.send(f"{line} HTTP/1.1\n{fields}\n", body)

    async def head(self) -> Head:
        """The head of the next answer."""
        async with asyncio.timeout(PATIENCE):
            raw = await self.reader.readuntil(b"\r\n\r\n")
        status, *lines = raw[:-4].split(b"\r\n")
        return Head(int(status.split()[1]), tuple(lines))

    async def exactly(self, count: int) -> bytes:
        """So many bytes."""
        async with asyncio.timeout(PATIENCE):
            return await self.reader.readexactly(count)

    async def rest(self) -> bytes:
        """Everything up to the end of the connection."""
        async with asyncio.timeout(PATIENCE):
            return await self.reader.read()

    async def answer(self) -> tuple[Head, bytes]:
        """An answer with a length."""
        head = await self.head()
        return head, await self.exactly(int(head.one("content-length")))

    async def chunks(self) -> AsyncIterator[bytes]:
        """The chunks of a chunked answer, up to its end; raises where it has none."""
        while size := int(await self._line(), 16):
            yield await self.exactly(size)
            await self._line()
        await self._line()

    async def _line(self) -> bytes:
        async with asyncio.timeout(PATIENCE):
            return (await self.reader.readuntil(b"\r\n"))[:-2]

    def abort(self) -> None:
        """Vanish, without a word."""
        self.writer.transport.abort()


@asynccontextmanager
async def wire(url: str) -> AsyncIterator[Wire]:
    """A connection to a base URL."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=1 << 26)
    try:
        yield Wire(reader, writer)
    finally:
        writer.close()
