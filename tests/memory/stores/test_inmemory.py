"""The contract is in tests/contracts; here is how the score is made, which others make in Rust."""

from __future__ import annotations

import math

import pytest

from app.domain import Change, Sparse, Vectors, Where
from app.memory.stores.base import PayloadStore
from app.memory.stores.inmemory import InMemoryEngine
from tests.build import ALICE, BOB, KEY, a_memory


async def test_bm25_weighs_words_by_how_rare_they_are() -> None:
    store = PayloadStore(InMemoryEngine(), KEY)
    for content, owner, words in (
        ("both", ALICE, {1: 1.5, 2: 0.5}),
        ("common", ALICE, {1: 1.0}),
        ("none", ALICE, {3: 1.0}),
        ("another owner's counts, too, as on a server", BOB, {1: 1.0}),
    ):
        sparse = Sparse(tuple(words), tuple(words.values()))
        change = Change(a_memory(content, owner), Vectors((0.6, 0.8), sparse))
        assert await store.save(owner, [change]) == [True]
    query = Vectors((1.0, 0.0), Sparse((1, 2), (1.0, 1.0)))
    hits = await store.search(ALICE, query, Where(), 10)
    scores = {hit.memory.fact.content: hit.scores["bm25"] for hit in hits}
    common, rare = math.log(1 + 1.5 / 3.5), math.log(1 + 3.5 / 1.5)
    assert scores["both"] == pytest.approx(1.5 * common + 0.5 * rare)
    assert scores["common"] == pytest.approx(common)
    assert scores["none"] == 0
    assert [hit.scores["cosine"] for hit in hits] == [pytest.approx(0.6)] * 3


async def test_what_comes_out_cannot_change_what_is_kept() -> None:
    engine = InMemoryEngine()
    store = PayloadStore(engine, KEY)
    await store.save(ALICE, [Change(a_memory("kept"))])
    (row,) = await engine.scroll(lambda *_: True, 1)
    row["content"] = "changed"
    assert (await store.find(ALICE, Where())).memories[0].fact.content == "kept"
