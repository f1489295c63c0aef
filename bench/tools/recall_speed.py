"""What our own work costs: the gate, and a search in a large embedded store.

Vectors are random and of unit length, so that no text has to be embedded. Words are drawn by the
law of Zipf and Mandelbrot, and fitted to what was counted with the product's lexical encoder. Turns
of chats share words: 72 to 84 % of an owner's have a word of the question in LoCoMo, 57 to 65 % in
BEAM, 63 % here. Facts hardly do: 2 % of bench/data/facts.jsonl, 2 % here.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from app.domain import Candidate, Change, Owner, Sparse, Vectors
from app.filters.recall import ACTIVE, PINNED
from bench.tools.memories import NOW, SETTINGS, TENANT, as_fact, stage
from bench.tools.ranking import SEED, percentile
from bench.tools.recall_facts import ANA, facts
from bench.tools.report import Target, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from app.memory.embed import Model
    from bench.tools.memories import Stage

    Part = tuple[dict[str, object], list[Target]]

CANDIDATES: Final = 200
GATED: Final = 1000
OWNERS: Final = 100
ROWS: Final = 100_000
LARGE: Final = 20_000
SEARCHES: Final = 1000
CHUNK: Final = 1000
VOCABULARY: Final = 30_000
ASKED_WORDS: Final = 6


@dataclass(frozen=True, slots=True)
class Words:
    """How many words a text draws, and how flat their distribution is at its head."""

    drawn: int
    offset: int

    def sparse(self, chance: np.random.Generator, drawn: int | None = None) -> Sparse:
        """A text's words, each once."""
        shares = _cumulated(self.offset)
        words = np.unique(np.searchsorted(shares, chance.random(drawn or self.drawn)))
        return Sparse(tuple(words.tolist()), (1.0,) * len(words))


@cache
def _cumulated(offset: int) -> NDArray[np.float64]:
    frequency = 1 / np.arange(offset, offset + VOCABULARY)
    shares: NDArray[np.float64] = np.cumsum(frequency / frequency.sum())
    return shares


CHATS: Final = Words(drawn=18, offset=1)
FACTS: Final = Words(drawn=12, offset=100)


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
    """100,000 rows of 100 owners, in the words of chats; then two owners more, of 20,000 rows.

    The owners take turns, so that what the store read of one (4,096 rows are kept) is mostly gone.
    """
    chance = np.random.default_rng(SEED)
    async with stage(model) as built:
        began = time.perf_counter()
        for number in range(OWNERS):
            await _fill(built, Owner(TENANT, f"owner-{number}"), ROWS // OWNERS, chance, CHATS)
        filled = time.perf_counter() - began
        owners = [Owner(TENANT, f"owner-{number % OWNERS}") for number in range(SEARCHES)]
        many = [await _searched(built, owner, chance, CHATS) for owner in owners]
        same = [await _searched(built, owners[0], chance, CHATS) for _ in owners]
        one, other = [await _large(built, chance, words) for words in (CHATS, FACTS)]
    rows = [
        [f"{ROWS} rows of {OWNERS} owners", len(many), *_percentiles(many)],
        ["… the same owner again", len(same), *_percentiles(same)],
        [f"one owner with {LARGE} rows", len(one), *_percentiles(one)],
        ["… in the words of facts", len(other), *_percentiles(other)],
    ]
    title = f"Search, embedded store, {model.shape.dense} dimensions, {SETTINGS.candidates} wanted"
    table(f"{title}, ms", ["store", "searches", "p50", "p99"], rows)
    print(f"filled with {ROWS / filled:,.0f} rows a second")
    return {"search_ms": {str(row[0]): row[2:] for row in rows}}, [
        Target("search_p50_ms", percentile(many, 0.5), 1),
        Target("search_p99_ms", percentile(many, 0.99), 8),
        Target("search_large_owner_p50_ms", percentile(one, 0.5), 15),
    ]


def _percentiles(values: Sequence[float]) -> list[float]:
    return [percentile(values, 0.5), percentile(values, 0.99)]


async def _large(built: Stage, chance: np.random.Generator, words: Words) -> list[float]:
    owner = Owner(TENANT, f"large-{words.offset}")
    await _fill(built, owner, LARGE, chance, words)
    return [await _searched(built, owner, chance, words) for _ in range(SEARCHES // 10)]


async def _searched(built: Stage, owner: Owner, chance: np.random.Generator, words: Words) -> float:
    """Milliseconds of a search as the recall filter makes it."""
    (dense,) = _dense(chance, 1, built.embed.shape.dense)
    vectors = Vectors(dense, words.sparse(chance, ASKED_WORDS))
    began = time.perf_counter()
    await built.store.search(owner, vectors, ACTIVE, SETTINGS.candidates, also=[PINNED])
    return (time.perf_counter() - began) * 1000


async def _fill(
    built: Stage, owner: Owner, rows: int, chance: np.random.Generator, words: Words
) -> None:
    for start in range(0, rows, CHUNK):
        vectors = _dense(chance, min(CHUNK, rows - start), built.embed.shape.dense)
        changes = [
            Change(
                as_fact(owner, f"Statement {start + number}."),
                Vectors(vector, words.sparse(chance)),
            )
            for number, vector in enumerate(vectors)
        ]
        await built.store.save(owner, changes)


def _dense(chance: np.random.Generator, count: int, dimension: int) -> Iterator[tuple[float, ...]]:
    dense = chance.standard_normal((count, dimension), dtype=np.float32)
    dense /= np.linalg.norm(dense, axis=1, keepdims=True)
    return (tuple(vector.tolist()) for vector in dense)
