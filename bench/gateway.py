"""What the proxy adds to a call, with memory off and on, against the same call without it.

One core for the gateway, one for load and upstream (both in Python, so both are slower than a real
client and model; the difference is what counts). nginx runs beside it where it is installed, and
LiteLLM's proxy with `--peers`.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import httpx

from bench.tools import load, peers, processes, profiles, streams
from bench.tools.report import Target, arguments, finish, table
from demo.stage import free_port

Section = tuple[dict[str, object], list[Target]]

KEY = "Authorization: Bearer sk-bench"
MEMORIES = 1_000
IDLE_STREAMS = 1_000
THINGS = ("tea", "jazz", "chess", "rowing", "opera", "pottery", "sudoku", "baking")
PLACES = ("Lisbon", "Porto", "Boston", "Kyoto", "Oslo", "Quito", "Turin", "Perth")
OFF, HASHED, MINILM, CACHED = (
    *("memory off", "memory on, hashed"),
    *("memory on, MiniLM", "memory on, MiniLM, cached query"),
)
SETTINGS = {OFF: {"REMORA_MEMORY": "off"}, HASHED: {"REMORA_EMBEDDING": "hash"}, MINILM: {}}


@dataclass(frozen=True, slots=True)
class Way:
    """One way to the upstream, and the bodies that are sent along it, one after the other."""

    name: str
    port: int
    bodies: Iterator[bytes]
    pid: int | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """How long and how often is measured."""

    rounds: int
    seconds: float


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


def new_questions() -> Iterator[bytes]:
    """Questions without end, none asked twice."""
    for number, thing in zip(itertools.count(), itertools.cycle(THINGS), strict=False):
        yield chat(f"Which place did I try {thing} in with group {number}?")


def remember(port: int) -> None:
    """Fill the user's memory through the API."""
    headers = {"Authorization": "Bearer sk-bench"}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers) as client:
        for fact in facts():
            client.post("/v1/memory", json={"content": fact}).raise_for_status()


def ways(stack: ExitStack, folder: Path, upstream: int, *, with_peers: bool) -> dict[str, Way]:
    """Every way to the upstream, started."""
    plain = itertools.cycle([chat("Where do I live?")])
    found = [Way("direct", upstream, plain)]
    beside = [("nginx", stack.enter_context(processes.nginx(folder, upstream, free_port())))]
    if with_peers:
        beside.append(("LiteLLM", stack.enter_context(peers.litellm(folder, upstream))))
    found += [Way(name, got[0], plain, got[1]) for name, got in beside if got is not None]
    for name, variables in SETTINGS.items():
        data = folder / name.replace(" ", "-")
        port, pid = stack.enter_context(processes.gateway(data, upstream, **variables))
        if name != OFF:
            remember(port)
        asked = {OFF: plain, HASHED: itertools.cycle(questions()), MINILM: new_questions()}[name]
        found.append(Way(name, port, asked, pid))
        if name == MINILM:
            found.append(Way(CACHED, port, itertools.cycle(questions()[:1]), pid))
    return {way.name: way for way in found}


def sequential(every: dict[str, Way], run: Run) -> Section:
    """One call after the other: the medians of interleaved rounds; milliseconds added at p50."""
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in every}
    for _ in range(run.rounds):
        for way in every.values():
            result = _load(way, run.seconds, 1)
            seen[way.name].append((result.percentile(0.5), result.percentile(0.99)))
    times = {name: sorted(pairs)[len(pairs) // 2] for name, pairs in seen.items()}
    base = times["direct"]
    added = {name: p50 - base[0] for name, (p50, _) in times.items() if name != "direct"}
    rows = [
        [name, p50, p99, added.get(name), p99 - base[1] if name in added else None]
        for name, (p50, p99) in times.items()
    ]
    table("One call after the other, ms", ["way", "p50", "p99", "+p50", "+p99"], rows)
    embedder = processes.embedder_ms()
    print(f"MiniLM alone, one query: {embedder:.2f} ms")
    targets = [
        Target("memory_on_hashed_added_p50_ms", added[HASHED], 1.5),
        Target("memory_on_minilm_added_p50_ms_over_embedder", added[MINILM] - embedder, 1.5),
        Target("memory_on_cached_added_p50_ms", added[CACHED], 2),
    ]
    if "nginx" in added:
        targets.append(Target("memory_off_added_p50_over_nginx", added[OFF] / added["nginx"], 3))
    if "LiteLLM" in added:
        share = added["LiteLLM"] / added[OFF]
        targets.append(Target("litellm_added_p50_over_memory_off", share, 20, at_most=False))
    return {"added_p50_ms": added}, targets


def concurrent(every: dict[str, Way], run: Run) -> Section:
    """Many calls at once: rate, latencies, and the gateway's CPU microseconds a call."""
    seen: dict[str, tuple[float, float, float, float]] = {}
    for way in every.values():
        seen[way.name] = max(_loaded(way, run.seconds) for _ in range(run.rounds))
    columns = ["way", "connections", "req/s", "p50 ms", "p99 ms", "CPU us"]
    rows = [[name, connections(name), *found] for name, found in seen.items()]
    table("Many calls at once", columns, rows)
    rate, p50, p99, cpu = seen[OFF]
    return {"concurrent": seen}, [
        Target("memory_off_requests_per_second", rate, 3_000, at_most=False),
        Target("memory_off_cpu_us", cpu, 320),
        Target("memory_off_p99_over_p50", p99 / p50, 4),
        Target("memory_on_hashed_requests_per_second", seen[HASHED][0], 800, at_most=False),
    ]


def streamed(every: dict[str, Way], run: Run) -> Section:
    """Streams of 50 chunks, sixteen at once: in a burst, and one chunk each 5 ms."""
    seen: dict[str, tuple[float, float, float]] = {}
    for way in every.values():
        if way.name not in ("direct", "nginx", OFF):
            continue
        burst = Way(way.name, way.port, itertools.cycle([chat("burst", stream=True)]), way.pid)
        rate = max(_load(burst, run.seconds, 16).rate for _ in range(run.rounds))
        with processes.alone(way.pid):
            delays = [
                streams.delays(way.port, chat("paced", stream=True), KEY, seconds=run.seconds)
                for _ in range(run.rounds)
            ]
        seen[way.name] = (rate, *sorted(delays)[len(delays) // 2])
    columns = ["way", "burst/s", "delay p50 ms", "delay p99 ms"]
    table("16 streams of 50 chunks", columns, [[name, *found] for name, found in seen.items()])
    rate, _, p99 = seen[OFF]
    return {"streams": seen}, [
        Target("streams_per_second", rate, 2_000, at_most=False),
        Target("paced_chunk_delay_p99_ms", p99, 1),
    ]


def idle(way: Way) -> Section:
    """What a thousand open streams cost, that say nothing."""
    before = processes.resident_mb(way.pid), processes.threads(way.pid)
    with (
        processes.alone(way.pid),
        streams.held(way.port, chat("idle", stream=True), KEY, IDLE_STREAMS),
    ):
        after = processes.resident_mb(way.pid), processes.threads(way.pid)
    kilobytes = (after[0] - before[0]) * 1024 / IDLE_STREAMS
    table(
        f"{IDLE_STREAMS} idle streams",
        ["KB each", "threads before", "threads after"],
        [[kilobytes, before[1], after[1]]],
    )
    return {"idle": [kilobytes, before[1], after[1]]}, [
        Target("idle_stream_kb", kilobytes, 60),
        Target("idle_stream_threads", after[1] - before[1], 0),
    ]


def starts(folder: Path, upstream: int, rounds: int) -> Section:
    """Seconds from the command to `/readyz`, and resident megabytes after a first call."""
    with processes.alone(None):
        seen = {
            name: sorted(
                _started(folder / f"{turn}-{name}", upstream, name) for turn in range(rounds)
            )
            for name in SETTINGS
        }
    middle = {name: pairs[rounds // 2] for name, pairs in seen.items()}
    table("Start", ["settings", "seconds", "MB"], [[name, *pair] for name, pair in middle.items()])
    return {"start": middle}, [
        Target("start_seconds", max(seconds for seconds, _ in middle.values()), 3),
        Target("resident_mb_with_model", middle[MINILM][1], 420),
        Target("resident_mb_memory_off", middle[OFF][1], 130),
    ]


def _started(folder: Path, upstream: int, name: str) -> tuple[float, float]:
    data = Path(str(folder).replace(" ", "-").replace(",", ""))
    return processes.started(data, upstream, chat("hello"), **SETTINGS[name])


def _load(way: Way, seconds: float, connections: int) -> load.Result:
    _settle(way)
    with processes.alone(way.pid):
        result = load.run(way.port, way.bodies, KEY, connections=connections, seconds=seconds)
    if result.errors or not result.latencies:
        raise SystemExit(f"{way.name}: {result.errors} errors, {len(result.latencies)} answers")
    return result


def _settle(way: Way) -> None:
    """What was learned from is not learned from in the next measurement."""
    if way.name in (HASHED, MINILM, CACHED):
        with processes.alone(way.pid):
            processes.settle(way.port)


def _loaded(way: Way, seconds: float) -> tuple[float, float, float, float]:
    _settle(way)
    before = processes.cpu_seconds(way.pid)
    result = _load(way, seconds, connections(way.name))
    spent = processes.cpu_seconds(way.pid) - before
    cpu = spent / (result.rate * (seconds + load.WARMUP)) * 1e6
    return result.rate, result.percentile(0.5), result.percentile(0.99), cpu


def connections(name: str) -> int:
    """How many clients call at once."""
    return 8 if name in (HASHED, MINILM, CACHED) else 16


def main() -> None:
    """Measure, print, judge."""
    options = arguments(
        __doc__ or "",
        peers="LiteLLM's proxy beside it, installed into a throw-away environment",
        profile="only show where the time goes",
    )
    run = Run(1, 1.0) if options.quick else Run(3, 3.0)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        upstream = stack.enter_context(processes.upstream())
        os.sched_setaffinity(0, {processes.LOAD_CORE})
        every = ways(stack, Path(name), upstream, with_peers=options.peers)
        if options.profile:
            for way in (every[OFF], every[HASHED]):
                profiles.show(way.name, way.pid or 0, partial(_load, way, run.seconds, 8))
            return
        parts = [
            sequential(every, run),
            concurrent(every, run),
            streamed(every, run),
            idle(every[OFF]),
            starts(Path(name), upstream, run.rounds),
        ]
    figures = {name: seen for part, _ in parts for name, seen in part.items()}
    targets = [target for _, judged in parts for target in judged]
    finish(figures, targets, options.json)


if __name__ == "__main__":
    main()
