"""What the proxy adds to a call, with memory off and on, against the same call without it.

One core for the gateway, one for load and upstream (both in Python, so both are slower than a real
client and model; the difference is what counts). nginx runs beside it where it is installed.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from typing import TYPE_CHECKING

import httpx

from bench.tools import load, processes
from bench.tools.report import Target, arguments, finish, table
from demo.stage import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = "Authorization: Bearer sk-bench"
MEMORIES = 1_000
THINGS = ("tea", "jazz", "chess", "rowing", "opera", "pottery", "sudoku", "baking")
PLACES = ("Lisbon", "Porto", "Boston", "Kyoto", "Oslo", "Quito", "Turin", "Perth")


@dataclass(frozen=True, slots=True)
class Way:
    """One way to the upstream, and what is sent along it."""

    name: str
    port: int
    bodies: list[bytes]
    pid: int | None = None


def chat(text: str, **fields: object) -> bytes:
    """A chat request."""
    return json.dumps(
        {"model": "m", "messages": [{"role": "user", "content": text}], **fields}
    ).encode()


def facts() -> Iterator[str]:
    """Statements of one user, all different."""
    pairs = itertools.product(THINGS, PLACES)
    for number, (thing, place) in zip(range(MEMORIES), itertools.cycle(pairs), strict=False):
        yield f"The user tried {thing} in {place} with group {number}."


def questions() -> list[bytes]:
    """Questions that touch some of them, all different."""
    pairs = itertools.product(THINGS, PLACES)
    return [chat(f"With which group did I try {thing} in {place}?") for thing, place in pairs]


def remember(port: int) -> None:
    """Fill the user's memory through the API."""
    headers = {"Authorization": "Bearer sk-bench"}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers) as client:
        for fact in facts():
            client.post("/v1/memory", json={"content": fact}).raise_for_status()


def ways(stack: ExitStack, folder: Path, upstream: int) -> list[Way]:
    """Every way to the upstream, started."""
    plain = [chat("Where do I live?")]
    found = [Way("direct", upstream, plain)]
    beside = stack.enter_context(processes.nginx(folder / "nginx", upstream, free_port()))
    if beside is not None:
        found.append(Way("nginx", beside[0], plain, beside[1]))
    modes = {
        "memory off": {"REMORA_MEMORY": "off"},
        "memory on, hashed": {"REMORA_EMBEDDING": "hash"},
        "memory on, MiniLM": {},
    }
    for place, (name, variables) in enumerate(modes.items()):
        data = folder / f"data{place}"
        port, pid = stack.enter_context(processes.gateway(data, upstream, **variables))
        if variables.get("REMORA_MEMORY") != "off":
            remember(port)
        new = plain if name == "memory off" else questions()
        found.append(Way(name, port, new, pid))
        if name == "memory on, MiniLM":
            found.append(Way(f"{name}, cached query", port, new[:1], pid))
    return found


def sequential(every: list[Way], rounds: int, seconds: float) -> dict[str, tuple[float, float]]:
    """p50 and p99 of one call after the other, the medians of interleaved rounds."""
    seen: dict[str, list[tuple[float, float]]] = {way.name: [] for way in every}
    for _ in range(rounds):
        for way in every:
            result = load.run(way.port, way.bodies, KEY, seconds=seconds)
            _refuse_errors(way, result)
            seen[way.name].append((result.percentile(0.5), result.percentile(0.99)))
    return {name: sorted(pairs)[len(pairs) // 2] for name, pairs in seen.items()}


def concurrent(way: Way, connections: int, seconds: float) -> tuple[load.Result, float]:
    """Many calls at once, and the gateway's CPU microseconds for each."""
    before = processes.cpu_seconds(way.pid) if way.pid else 0.0
    result = load.run(way.port, way.bodies, KEY, connections=connections, seconds=seconds, warmup=0)
    _refuse_errors(way, result)
    spent = (processes.cpu_seconds(way.pid) - before) if way.pid else 0.0
    return result, spent / max(len(result.latencies), 1) * 1e6


def main() -> None:
    """Measure, print, judge."""
    options = arguments(__doc__ or "")
    rounds, seconds = (1, 1.0) if options.quick else (3, 3.0)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        os.sched_setaffinity(0, {processes.LOAD_CORE})
        every = ways(stack, Path(name), stack.enter_context(processes.upstream()))
        times = sequential(every, rounds, seconds)
        base = times["direct"]
        added = {n: (p50 - base[0], p99 - base[1]) for n, (p50, p99) in times.items()}
        rows = [[n, *times[n], *(added[n] if n != "direct" else (None, None))] for n in times]
        table("One call after the other, ms", ["way", "p50", "p99", "+p50", "+p99"], rows)
        loads = {way.name: concurrent(way, 16, seconds) for way in every}
        rows = [
            [n, result.rate, result.percentile(0.5), result.percentile(0.99), cpu]
            for n, (result, cpu) in loads.items()
        ]
        table("16 connections", ["way", "req/s", "p50 ms", "p99 ms", "CPU us"], rows)
        resident = {way.name: processes.resident_mb(way.pid) for way in every if way.pid}
        table("Resident memory", ["way", "MB"], [[n, mb] for n, mb in resident.items()])
    finish({"sequential": times, "resident_mb": resident}, targets(added), options.json)


def targets(added: dict[str, tuple[float, float]]) -> list[Target]:
    """Ratios within this run."""
    yardstick = added.get("nginx", (0.2, 0.0))[0]
    off, hashed = added["memory off"][0], added["memory on, hashed"][0]
    return [
        Target("memory_off_added_p50_over_nginx", off / yardstick, 3),
        Target("memory_on_hashed_added_p50_ms", hashed, 1.5),
        Target("memory_on_cached_added_p50_ms", added["memory on, MiniLM, cached query"][0], 2),
    ]


def _refuse_errors(way: Way, result: load.Result) -> None:
    if result.errors or not result.latencies:
        raise SystemExit(f"{way.name}: {result.errors} errors, {len(result.latencies)} answers")


if __name__ == "__main__":
    main()
