"""A wire tap in front of a model server: passes every byte on and remembers the prompts."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from typing import Any, Self
from urllib.parse import urlsplit

CHUNK = 65536


class Tap:
    """Listens on a free loopback port; `prompts` are the `messages` of the calls that passed."""

    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        self._target = (parts.hostname or "127.0.0.1", parts.port or 80)
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.prompts: list[list[dict[str, Any]]] = []
        self.url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    @property
    def last_turn(self) -> str:
        """What the last user turn was when it reached the model."""
        return str([m for m in self.prompts[-1] if m["role"] == "user"][-1]["content"])

    def _run(self) -> None:
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        model_reader, model_writer = await asyncio.open_connection(*self._target)
        pumps = [self._up(reader, model_writer), _pump(model_reader, writer)]
        await asyncio.gather(*pumps, return_exceptions=True)

    async def _up(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen = b""
        while data := await reader.read(CHUNK):
            seen = self._read(seen + data)
            writer.write(data)
            await writer.drain()
        writer.close()

    def _read(self, seen: bytes) -> bytes:
        """Take whole requests off the front of what was seen; the rest stays."""
        while b"\r\n\r\n" in seen:
            head, _, rest = seen.partition(b"\r\n\r\n")
            length = _content_length(head)
            if len(rest) < length:
                break
            with contextlib.suppress(ValueError, KeyError):
                self.prompts.append(json.loads(rest[:length])["messages"])
            seen = rest[length:]
        return seen


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(CHUNK):
        writer.write(data)
        await writer.drain()
    writer.close()


def _content_length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            return int(value)
    return 0
