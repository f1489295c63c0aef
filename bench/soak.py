"""Five minutes at fifty connections: whole, streamed and aborted calls, mixed, with memory on.

At the end nothing may be left: no call that still runs, no connection, no thread, no memory. Then
fifty streams are aborted at once, and a hundred calls must all be answered.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import httpx
import uvloop

from bench.gateway import KEY, chat
from bench.tools import processes
from bench.tools.load import request
from bench.tools.report import Target, arguments, finish, table

CONNECTIONS = 50
SEED = 20261130
SAMPLES = 30
# After the load: upstream connections rest for 4 s, uses are counted after 10 s.
SETTLE = 15.0
PATIENCE = 20.0
SAYINGS = [f"I tried {thing} in my kitchen." for thing in ("tea", "baking", "curry", "jam")]


@dataclass(slots=True)
class Seen:
    """What the clients saw, and samples of the gateway, as `sample` takes them."""

    calls: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    samples: list[tuple[float, float, int, int]] = field(default_factory=list)


class Client:
    """One connection at a time; a new one after each abort."""

    def __init__(self, port: int, seen: Seen, seed: int) -> None:
        self._port = port
        self._seen = seen
        self._random = random.Random(seed)
        self._writer: asyncio.StreamWriter | None = None

    async def run(self, end: float) -> None:
        """Call until the end."""
        while time.monotonic() < end:
            kind = self._random.choice(("whole", "whole", "streamed", "paced", "aborted"))
            try:
                async with asyncio.timeout(PATIENCE):
                    await self.call(kind)
                self._seen.calls[kind] += 1
            except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as error:
                self._seen.errors[f"{kind}: {type(error).__name__}"] += 1
                self.leave()
        self.leave()

    async def call(self, kind: str) -> None:
        """One call; raises where an answer is not what it should be."""
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        words = self._random.choice(SAYINGS) + (" paced" if kind in ("paced", "aborted") else "")
        body = chat(words) if kind == "whole" else chat(words, stream=True)
        self._writer.write(request(self._port, body, KEY))
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        if not head.startswith(b"http/1.1 200"):
            raise ValueError(head[:12])
        if kind == "whole":
            await self._reader.readexactly(int(head.split(b"content-length:")[1].split()[0]))
        elif kind == "aborted":
            for _ in range(self._random.randrange(5)):
                await self._reader.readuntil(b"\n\n")
            self.leave()
        else:
            await self._reader.readuntil(b"data: [DONE]\n\n\r\n0\r\n\r\n")

    def leave(self) -> None:
        """Hang up at once."""
        if self._writer is not None:
            self._writer.transport.abort()
            self._writer = None


async def load(port: int, pid: int, seconds: float) -> Seen:
    """Fifty clients for so long, and a look at the gateway now and then."""
    seen = Seen()
    end = time.monotonic() + seconds
    clients = [Client(port, seen, SEED + number) for number in range(CONNECTIONS)]
    running = asyncio.gather(*(client.run(end) for client in clients))
    while not running.done():
        await asyncio.wait((running,), timeout=seconds / SAMPLES)
        seen.samples.append(sample(pid))
    return seen


async def after_aborts(port: int) -> int:
    """Fifty streams aborted in their middle, then a hundred calls: how many were answered."""
    clients = [Client(port, Seen(), SEED) for _ in range(CONNECTIONS)]
    await asyncio.gather(*(client.call("aborted") for client in clients))
    for _ in range(2):
        await asyncio.gather(*(client.call("whole") for client in clients))
    for client in clients:
        client.leave()
    return 2 * CONNECTIONS


def sample(pid: int) -> tuple[float, float, int, int]:
    """Megabytes of its own and with mapped files, open descriptors, threads."""
    descriptors = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return (
        processes.anonymous_mb(pid),
        processes.resident_mb(pid),
        descriptors,
        processes.threads(pid),
    )


def running(port: int) -> float:
    """Calls that the gateway says are running."""
    text = httpx.get(f"http://127.0.0.1:{port}/metrics").text
    lines = (line for line in text.splitlines() if line.startswith("remora_calls_running "))
    return float(next(lines).split()[1])


def main() -> None:
    """Load, let it settle, judge."""
    options = arguments(__doc__ or "")
    seconds = 20.0 if options.quick else 300.0
    variables = {"REMORA_EMBEDDING": "hash", "REMORA_LOG_LEVEL": "warning"}
    with (
        tempfile.TemporaryDirectory() as folder,
        processes.upstream() as upstream,
        processes.gateway(Path(folder) / "data", upstream, **variables) as (port, pid),
    ):
        uvloop.run(load(port, pid, 3.0))
        time.sleep(SETTLE)
        before = sample(pid)
        seen = uvloop.run(load(port, pid, seconds))
        time.sleep(SETTLE)
        after = sample(pid)
        answered = uvloop.run(after_aborts(port))
        time.sleep(1)
        left = running(port)
    third = sorted(mb for mb, *_ in seen.samples[SAMPLES // 6 : SAMPLES // 2])
    last = sorted(mb for mb, *_ in seen.samples[-SAMPLES // 3 :])
    growth = last[len(last) // 2] / third[len(third) // 2] - 1
    table("Calls", ["kind", "count"], [list(pair) for pair in sorted(seen.calls.items())])
    table("Errors", ["what", "count"], [list(pair) for pair in sorted(seen.errors.items())])
    rows = [["before", *before], *(["", *s] for s in seen.samples[::3]), ["after", *after]]
    table("The gateway", ["when", "own MB", "resident MB", "descriptors", "threads"], rows)
    targets = [
        Target("soak_errors", seen.errors.total(), 0),
        Target("soak_descriptors_left", after[2] - before[2], 0),
        Target("soak_threads_left", after[3] - before[3], 0),
        Target("soak_calls_left", left, 0),
        Target("soak_memory_growth_percent", growth * 100, 5),
        Target("answered_after_aborts", answered, 2 * CONNECTIONS, at_most=False),
    ]
    finish({"calls": seen.calls, "samples": seen.samples}, targets, options.json)


if __name__ == "__main__":
    main()
