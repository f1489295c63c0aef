"""Hybrid search: cosine and BM25, both filled, both filtered inside the search (M15)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.domain import Change, MemoryType, Owner, Sparse, State, Vectors, Where
from app.errors import StoreError
from app.ports import Store
from tests.build import ALICE, BOB, EMBED, FORGOTTEN, a_memory, contents, keep, later, vectors_of

ACTIVE = Where(states=frozenset({State.ACTIVE}))
DIMENSION = EMBED.shape.dense


def towards(axis: int, words: tuple[int, ...] = ()) -> Vectors:
    """A vector along one axis that holds these words."""
    dense = tuple(1.0 if place == axis else 0.0 for place in range(DIMENSION))
    return Vectors(dense, Sparse(words, (1.0,) * len(words)))


async def put(store: Store, content: str, vectors: Vectors, owner: Owner = ALICE) -> None:
    assert await store.save(owner, [Change(a_memory(content, owner), vectors)]) == [True]


async def found(
    store: Store, vectors: Vectors, limit: int = 10, where: Where = ACTIVE, owner: Owner = ALICE
) -> dict[str, dict[str, float]]:
    hits = await store.search(owner, vectors, where, limit)
    names = ("cosine", "bm25")
    return {hit.memory.fact.content: {name: hit.scores[name] for name in names} for hit in hits}


@pytest.mark.requirement("M15")
async def test_every_hit_has_both_scores(store: Store) -> None:
    for text in ("Alice likes green tea", "Alice lives in Lisbon", "Bob has a boat"):
        await put(store, text, await vectors_of(text))
    scores = await found(store, await EMBED.query("tea in Lisbon"))
    assert scores.keys() == {"Alice likes green tea", "Alice lives in Lisbon", "Bob has a boat"}
    assert all(one.keys() == {"cosine", "bm25"} for one in scores.values())
    assert scores["Bob has a boat"]["bm25"] == 0
    assert scores["Alice likes green tea"]["bm25"] > 0
    assert scores["Alice lives in Lisbon"]["cosine"] > scores["Bob has a boat"]["cosine"]


@pytest.mark.requirement("M15")
async def test_a_hit_of_one_search_gets_the_score_of_the_other(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.memory.stores.base.DEPTH", 1)
    half = tuple(0.6 if axis == 0 else 0.8 if axis == 1 else 0.0 for axis in range(DIMENSION))
    await put(store, "near, other words", towards(0, (1,)))
    await put(store, "far, the word", Vectors(half, Sparse((7,), (1.0,))))
    await put(store, "nearer than far", towards(0, (2,)))
    scores = await found(store, towards(0, (7,)), limit=2)
    near = next(name for name in scores if name != "far, the word")
    assert scores.keys() == {near, "far, the word"}
    assert scores["far, the word"]["cosine"] == pytest.approx(0.6, abs=1e-5)
    assert scores["far, the word"]["bm25"] > 0
    assert scores[near] == {"cosine": pytest.approx(1.0, abs=1e-5), "bm25": 0.0}


@pytest.mark.requirement("M15")
async def test_both_searches_are_filtered_inside(store: Store) -> None:
    """Twenty nearer rows of others and other states would fill any search that filters later."""
    for number in range(20):
        await put(store, f"Bob {number}", towards(0, (7,)), BOB)
        stale = a_memory(f"stale {number}", state=State.SUPERSEDED)
        assert await store.save(ALICE, [Change(stale, towards(0, (7,)))]) == [True]
    await put(store, "by cosine", towards(0))
    await put(store, "by word", towards(5, (7,)))
    query = towards(0, (7,))
    assert (await found(store, query, limit=2)).keys() == {"by cosine", "by word"}
    assert len(await found(store, query, limit=30, owner=BOB)) == 20
    assert len(await found(store, query, limit=30, where=Where())) == 22


@pytest.mark.requirement("M15")
async def test_a_query_without_words_searches_by_cosine_alone(store: Store) -> None:
    await put(store, "one", towards(0, (7,)))
    await put(store, "no words", towards(1))
    scores = await found(store, towards(0))
    assert scores["one"] == {"cosine": pytest.approx(1.0, abs=1e-5), "bm25": 0.0}
    assert scores["no words"]["bm25"] == 0


async def test_the_filter_narrows_a_search(store: Store) -> None:
    query = towards(0, (7,))
    rows = {
        "type": a_memory("type", type=MemoryType.EPISODIC),
        "slot": a_memory("slot", slot="home_city"),
        "app": a_memory("app", app="cli"),
        "talk": a_memory("talk", conversation_id="c-1"),
        "pin": a_memory("pin", pinned=True),
        "old": a_memory("old", at=later(-100)),
        "plain": a_memory("plain", owner=replace(ALICE, project="site")),
    }
    for row in rows.values():
        assert await store.save(row.owner, [Change(row, query)]) == [True]
    for name, where in (
        ("type", Where(types=frozenset({MemoryType.EPISODIC}))),
        ("slot", Where(slots=frozenset({"home_city", "employer"}))),
        ("app", Where(app="cli")),
        ("talk", Where(conversation_id="c-1")),
        ("pin", Where(pinned=True)),
        ("old", Where(created=(None, later(-1)))),
        ("plain", Where(project="site")),
        ("plain", Where(ids=frozenset({rows["plain"].id}))),
        ("plain", Where(content=" PLAIN ")),
    ):
        assert (await found(store, query, where=where)).keys() == {name}
        assert await contents(store, ALICE, where) == [name]
    unpinned = await found(store, query, where=Where(pinned=False, created=(later(-1), None)))
    assert unpinned.keys() == rows.keys() - {"pin", "old"}


async def test_content_is_found_blind_to_case_and_spacing_and_when_forgotten(store: Store) -> None:
    row, other = a_memory("The user's cat is  Tom."), a_memory("The user's cat is Tom")
    await keep(store, row, other, a_memory("The user's cat is  Tom.", BOB))
    same = Where(content=" the USER'S cat\n is tom. ")
    assert (await store.find(ALICE, same)).memories == (row,)
    assert await store.forget(ALICE, same, later(1)) == [row.id]
    assert (await store.find(ALICE, same)).total == 0
    tombs = await store.find(ALICE, replace(FORGOTTEN, content="The user's cat is  Tom."))
    assert [tomb.id for tomb in tombs.memories] == [row.id]
    assert await contents(store, ALICE) == ["The user's cat is Tom"]


async def test_limits(store: Store) -> None:
    for number in range(5):
        await put(store, str(number), towards(number, (7, number + 10)))
    assert await found(store, towards(0, (7,)), limit=0) == {}
    assert len(await found(store, towards(0, (7,)), limit=2)) == 2
    assert len(await found(store, towards(0, (7,)), limit=1000)) == 5


@pytest.mark.requirement("M15")
async def test_the_best_of_both_comes_first(store: Store) -> None:
    await put(store, "neither", towards(5))
    await put(store, "by cosine", towards(0))
    await put(store, "by both", towards(0, (7,)))
    hits = await store.search(ALICE, towards(0, (7,)), ACTIVE, 3)
    assert [hit.memory.fact.content for hit in hits] == ["by both", "by cosine", "neither"]
    assert [round(hit.scores["fused"], 3) for hit in hits] == [1.0, 0.5, 0.0]


@pytest.mark.requirement("M9", "M18")
async def test_what_else_is_wanted_comes_whatever_its_score_but_never_anothers(
    store: Store,
) -> None:
    for owner in (ALICE, BOB):
        name = owner.user
        for row in (
            a_memory(f"{name} pinned", owner, pinned=True),
            a_memory(f"{name} home", owner, slot="home_city"),
            a_memory(f"{name} old home", owner, slot="home_city", state=State.SUPERSEDED),
            a_memory(f"{name} other", owner),
        ):
            assert await store.save(owner, [Change(row, towards(9))]) == [True]
        await put(store, f"{name} best", towards(0, (7,)), owner)
    also = [Where(pinned=True), Where(slots=frozenset({"home_city", "employer"}))]
    for limit, best in ((1, ["alice best"]), (0, [])):
        hits = await store.search(ALICE, towards(0, (7,)), ACTIVE, limit, also=also)
        names = [hit.memory.fact.content for hit in hits]
        assert names[: len(best)] == best
        assert sorted(names[len(best) :]) == ["alice home", "alice pinned"]


async def test_rows_without_vectors_are_kept_but_not_searched(store: Store) -> None:
    row = a_memory("no index")
    assert await store.save(ALICE, [Change(row)]) == [True]
    await put(store, "indexed", towards(0, (7,)))
    assert (await found(store, towards(0, (7,)))).keys() == {"indexed"}
    assert len(await contents(store, ALICE)) == 2


@pytest.mark.requirement("M4")
@pytest.mark.fault(36)
async def test_a_vector_of_another_model_is_refused(store: Store) -> None:
    foreign = Vectors((1.0, 0.0), Sparse((7,), (1.0,)))
    await put(store, "kept", towards(0, (7,)))
    with pytest.raises(StoreError):
        await store.search(ALICE, foreign, ACTIVE, 5)
    with pytest.raises(StoreError):
        await store.save(ALICE, [Change(a_memory("foreign"), foreign)])
    assert await contents(store, ALICE) == ["kept"]
    assert (await found(store, towards(0, (7,)))).keys() == {"kept"}


async def test_a_change_reindexes_only_when_it_brings_vectors(store: Store) -> None:
    row = a_memory("first")
    assert await store.save(ALICE, [Change(row, towards(0, (7,)))]) == [True]
    pinned = replace(row, fact=replace(row.fact, pinned=True))
    assert await store.save(ALICE, [Change(pinned, expect=row)]) == [True]
    scores = await found(store, towards(0, (7,)))
    assert scores["first"]["cosine"] == pytest.approx(1.0, abs=1e-5)
    (now,) = (await store.find(ALICE, Where())).memories
    moved = replace(now, fact=replace(now.fact, content="second"))
    assert await store.save(ALICE, [Change(moved, towards(1, (8,)), expect=now)]) == [True]
    scores = await found(store, towards(1, (7,)))
    assert scores == {"second": {"cosine": pytest.approx(1.0, abs=1e-5), "bm25": 0.0}}
