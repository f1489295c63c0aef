"""What our own work costs: the gate, and a search in a large embedded store.

Vectors are random and of unit length, so that no text has to be embedded. Words are drawn by the
law of Zipf and Mandelbrot without the stop words: the most frequent is in 2 % of the statements.
"""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Final

import numpy as np

from app.domain import Candidate, Change, Owner, Sparse, Vectors
from app.filters.recall import ACTIVE, PINNED
from bench.tools.memories import NOW, SETTINGS, TENANT, as_fact, stage
from bench.tools.ranking import SEED, percentile
from bench.tools.recall_facts import ANA, facts
from bench.tools.report import Target, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from app.domain import Admitted, Policy
    from app.memory.embed import Model
    from bench.tools.memories import Stage

    Gate = Callable[[Sequence[Candidate], Policy | None, datetime], tuple[Admitted, ...]]
    Part = tuple[dict[str, object], list[Target]]

CANDIDATES: Final = 200
GATED: Final = 1000
OWNERS: Final = 100
ROWS: Final = 100_000
LARGE: Final = 20_000
SEARCHES: Final = 1000
CHUNK: Final = 1000
VOCABULARY: Final = 30_000
STOP_WORDS: Final = 100
WORDS: Final = 12
ASKED_WORDS: Final = 6
_FREQUENCY: Final = 1 / np.arange(STOP_WORDS, STOP_WORDS + VOCABULARY)
_CUMULATED: Final = np.cumsum(_FREQUENCY / _FREQUENCY.sum())


async def gate_part(model: Model, rounds: int = GATED) -> Part:
    """200 candidates with cosines around the floor, so that about half pass it."""
    async with stage(model) as built:
        times = [_timed(built, found) for found in [many_candidates(model.floor)] * rounds]
    p50, p99 = percentile(times, 0.5), percentile(times, 0.99)
    table(f"Gate, {CANDIDATES} candidates, {rounds} times, ms", ["p50", "p99"], [[p50, p99]])
    return {"gate_ms": [p50, p99]}, [Target("gate_p99_ms", p99, 1)]


def _timed(built: Stage, found: Sequence[Candidate]) -> float:
    began = time.perf_counter()
    built.admitted(found)
    return (time.perf_counter() - began) * 1000


def many_candidates(floor: float) -> list[Candidate]:
    """Our facts again and again, each time with another number in them."""
    chance = random.Random(SEED)
    known = facts()
    found = []
    for number in range(CANDIDATES):
        fact = known[number % len(known)]
        cosine = floor + chance.uniform(-0.2, 0.2)
        bm25 = chance.uniform(0, 9)
        scores = {"cosine": cosine, "bm25": bm25, "fused": cosine / 2 + bm25 / 18}
        scores["coverage"] = chance.random()
        memory = as_fact(ANA, f"{fact['content']} ({number})", slot=fact["slot"], at=NOW)
        found.append(Candidate(memory, scores))
    return sorted(found, key=lambda candidate: -candidate.scores["fused"])


async def store_part(model: Model) -> Part:
    """100,000 rows of 100 owners; then one owner more, with 20,000.

    The owners take turns, so that what the store read of one (4,096 rows are kept) is mostly gone.
    """
    chance = np.random.default_rng(SEED)
    async with stage(model) as built:
        began = time.perf_counter()
        for number in range(OWNERS):
            await _fill(built, Owner(TENANT, f"owner-{number}"), ROWS // OWNERS, chance)
        filled = time.perf_counter() - began
        owners = [Owner(TENANT, f"owner-{number % OWNERS}") for number in range(SEARCHES)]
        many = [await _searched(built, owner, chance) for owner in owners]
        same = [await _searched(built, owners[0], chance) for _ in owners]
        large = Owner(TENANT, "large")
        await _fill(built, large, LARGE, chance)
        one = [await _searched(built, large, chance) for _ in range(SEARCHES // 10)]
    rows = [
        [f"{ROWS} rows of {OWNERS} owners", len(many), *_percentiles(many)],
        ["… the same owner again", len(same), *_percentiles(same)],
        [f"one owner with {LARGE} rows", len(one), *_percentiles(one)],
    ]
    title = f"Search, embedded store, {model.dimension} dimensions, {SETTINGS.candidates} wanted"
    table(f"{title}, ms", ["store", "searches", "p50", "p99"], rows)
    print(f"filled with {ROWS / filled:,.0f} rows a second")
    return {"search_ms": {str(row[0]): row[2:] for row in rows}}, [
        Target("search_p50_ms", percentile(many, 0.5), 1),
        Target("search_p99_ms", percentile(many, 0.99), 8),
        Target("search_large_owner_p50_ms", percentile(one, 0.5), 15),
    ]


def _percentiles(values: Sequence[float]) -> list[float]:
    return [percentile(values, 0.5), percentile(values, 0.99)]


async def _searched(built: Stage, owner: Owner, chance: np.random.Generator) -> float:
    """Milliseconds of a search as the recall filter makes it."""
    (vectors,) = _vectors(chance, 1, built.embed.dimension, ASKED_WORDS)
    began = time.perf_counter()
    await built.store.search(owner, vectors, ACTIVE, SETTINGS.candidates, also=[PINNED])
    return (time.perf_counter() - began) * 1000


async def _fill(built: Stage, owner: Owner, rows: int, chance: np.random.Generator) -> None:
    for start in range(0, rows, CHUNK):
        vectors = _vectors(chance, min(CHUNK, rows - start), built.embed.dimension, WORDS)
        changes = [
            Change(as_fact(owner, f"Statement {start + number}."), vector)
            for number, vector in enumerate(vectors)
        ]
        await built.store.save(owner, changes)


def _vectors(
    chance: np.random.Generator, count: int, dimension: int, words: int
) -> Iterator[Vectors]:
    dense = chance.standard_normal((count, dimension), dtype=np.float32)
    dense /= np.linalg.norm(dense, axis=1, keepdims=True)
    for vector in dense:
        drawn = np.unique(np.searchsorted(_CUMULATED, chance.random(words)))
        indices = tuple(drawn.tolist())
        yield Vectors(tuple(vector.tolist()), Sparse(indices, (1.0,) * len(indices)))
