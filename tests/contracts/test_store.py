"""Every store keeps what it was given, and shows it to nobody else."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from uuid import uuid4

import pytest

from app.domain import (
    Change,
    Event,
    Links,
    Memory,
    MemoryType,
    Owner,
    Pool,
    State,
    Tenant,
    Usage,
    Via,
    Where,
)
from app.errors import EmptyFilterError, StoreError
from app.memory.rows import to_row
from app.ports import Store
from tests.build import ALICE, BOB, START, a_memory, contents, keep, later, vectors_of

STRANGERS = [
    BOB,
    Owner("rival", "alice"),
    Owner("acme", "Alice"),
    Owner("acme", "alice "),
]
USERS = [
    *("auth0|x", "a+b@c.io", "🦈", "x" * 256, 'o\'brien "q" ;--', "*", "al*", "line\nbreak"),
    *("שלום\u200f", "a", "A", "a ", " a", "\u0430", "ä", "a\u0308", "%", "\\", "null", "0", "{}"),
    *("true", "[0]", "a\x00b", "../a", "?user=*", "a,b", "\uff41"),
]


def full(owner: Owner = ALICE) -> Memory:
    """A memory with something in every field."""
    return replace(
        a_memory(
            "Prefers tea",
            owner,
            type=MemoryType.PROCEDURAL,
            slot="drink",
            importance=0.125,
            confidence=0.75,
            pinned=True,
            lang="en",
            state=State.SUPERSEDED,
            at=datetime(2026, 3, 1, 9, 30, 0, 123456, tzinfo=timezone(timedelta(hours=2))),
            valid_to=later(1),
            superseded_at=later(2),
            created_by="someone else",
            created_via=Via.LLM,
            app="cli",
            conversation_id="c-1",
            source_turn="t-1",
            quote="I prefer tea.",
        ),
        links=Links((uuid4(), uuid4()), uuid4(), (uuid4(),), (uuid4(),)),
        usage=Usage(3, later(3)),
        history=(Event(START, "created", "alice"), Event(later(1), "superseded", "alice", "newer")),
    )


@pytest.mark.requirement("M1")
async def test_every_field_comes_back(store: Store) -> None:
    memory = full(Owner("acme", "alice", "site"))
    await keep(store, memory)
    (found,) = (await store.find(memory.owner, Where())).memories
    assert found == memory
    assert to_row(found) == to_row(memory)


@pytest.mark.requirement("M3")
async def test_content_comes_back_as_it_was(store: Store) -> None:
    said = [
        *("é", "e\u0301", "我住在北京。", "🦈 👩‍👩‍👧", "\x00", "שלום \u202e", "a\n\tb"),
        *("x" * 16384, '"{}', "'; --"),
    ]
    await keep(store, *(a_memory(text, at=later(-n)) for n, text in enumerate(said)))
    assert await contents(store, ALICE) == said


@pytest.mark.requirement("M8", "M9")
async def test_user_ids_are_opaque_and_never_mixed_up(store: Store) -> None:
    owners = [Owner("acme", user) for user in USERS]
    await keep(store, *(a_memory(f"I am {number}", o) for number, o in enumerate(owners)))
    for number, owner in enumerate(owners):
        assert await contents(store, owner) == [f"I am {number}"]
    assert (await store.find(Tenant("acme"), Where())).total == len(USERS)


@pytest.mark.requirement("M9")
@pytest.mark.parametrize("stranger", STRANGERS, ids=repr)
async def test_nobody_else_sees_or_changes_a_row(store: Store, stranger: Owner) -> None:
    mine, theirs = a_memory("My cat is Tom"), a_memory("My cat is Tom", stranger)
    await keep(store, mine)
    query = await vectors_of("My cat is Tom")
    ids = Where(ids=frozenset({mine.id}))
    for where in (Where(), ids, Where(content="My cat is Tom")):
        assert (await store.find(stranger, where)).total == 0
        assert await store.search(stranger, query, where, 5) == []
        assert (await store.find(ALICE, where)).memories == (mine,)
        assert [c.memory for c in await store.search(ALICE, query, where, 5)] == [mine]

    await store.touch(stranger, {mine.id: 1}, later(1))
    assert await store.forget(stranger, ids, later(1)) == []
    taken = replace(theirs, id=mine.id)
    assert await store.save(stranger, [Change(taken, query)]) == [False]
    assert await store.save(stranger, [Change(taken, query, expect=taken)]) == [False]
    assert (await store.find(ALICE, Where())).memories == (mine,)

    await keep(store, theirs)
    assert [c.memory for c in await store.search(stranger, query, Where(), 5)] == [theirs]
    assert await store.forget(stranger, Where(content="My cat is Tom"), later(2)) == [theirs.id]
    assert (await store.find(ALICE, Where())).memories == (mine,)


@pytest.mark.requirement("M9")
async def test_rows_of_other_owners_are_refused(store: Store) -> None:
    mine, theirs = a_memory("mine"), a_memory("theirs", BOB)
    await keep(store, mine, theirs)
    shared = replace(ALICE, project="site")
    for change in (
        Change(a_memory("forged", BOB)),
        Change(a_memory("forged", Owner("rival", "alice"))),
        Change(a_memory("forged", replace(BOB, project="site"), pool=Pool.PROJECT)),
        Change(a_memory("no such call", shared, pool=Pool.PROJECT)),
        Change(replace(mine, id=theirs.id), expect=mine),
        Change(replace(mine, id=theirs.id), expect=theirs),
        Change(replace(theirs, owner=ALICE), expect=theirs),
        Change(replace(mine, owner=BOB), expect=mine),
        Change(replace(mine, pool=Pool.PROJECT, owner=shared), expect=mine),
    ):
        with pytest.raises(StoreError, match="another owner"):
            await store.save(ALICE, [change])
    assert (await store.find(Tenant("acme"), Where())).total == 2
    assert await contents(store, ALICE) == ["mine"]
    assert await contents(store, BOB) == ["theirs"]


@pytest.mark.requirement("M9")
async def test_the_project_pool_is_seen_by_its_project_alone(store: Store) -> None:
    alice, bob = Owner("acme", "alice", "site"), Owner("acme", "bob", "site")
    await keep(
        store,
        a_memory("Alice likes tea", alice),
        a_memory("The site uses Python", alice, pool=Pool.PROJECT, at=later(1)),
        a_memory("Bob likes coffee", bob, at=later(2)),
    )
    rule = "The site uses Python"
    query = await vectors_of(rule)
    for owner, seen in (
        (alice, [rule, "Alice likes tea"]),
        (bob, ["Bob likes coffee", rule]),
        (Owner("acme", "carol", "site"), [rule]),
        (Owner("acme", "carol", "Site"), []),
        (Owner("rival", "carol", "site"), []),
        (BOB, ["Bob likes coffee"]),
        (ALICE, ["Alice likes tea"]),
    ):
        assert await contents(store, owner) == seen
        hits = await store.search(owner, query, Where(), 5)
        assert sorted(hit.memory.fact.content for hit in hits) == sorted(seen)


@pytest.mark.requirement("M9")
async def test_the_project_writes_its_pool_but_only_the_author_forgets(store: Store) -> None:
    alice, bob = Owner("acme", "alice", "site"), Owner("acme", "bob", "site")
    row = a_memory("The site uses Python", alice, pool=Pool.PROJECT)
    await keep(store, row)
    await store.touch(bob, {row.id: 1}, later(1))
    (seen,) = (await store.find(bob, Where())).memories
    assert seen.usage == Usage(1, later(1))
    changed = replace(seen, state=State.SUPERSEDED)
    assert await store.save(BOB, []) == []
    with pytest.raises(StoreError):
        await store.save(BOB, [Change(changed, expect=seen)])
    assert await store.save(bob, [Change(changed, expect=seen)]) == [True]
    assert await store.forget(bob, Where(ids=frozenset({row.id})), later(2)) == []
    assert await store.forget(ALICE, Where(ids=frozenset({row.id})), later(2)) == [row.id]
    assert await contents(store, bob) == []


@pytest.mark.requirement("M9")
async def test_an_administrator_reaches_one_tenant(store: Store) -> None:
    rival = Owner("rival", "alice")
    shared = a_memory("shared", Owner("acme", "bob", "site"), pool=Pool.PROJECT)
    await keep(store, a_memory("a"), a_memory("b", BOB), shared, a_memory("c", rival))
    assert (await store.find(Tenant("acme"), Where())).total == 3
    assert (await store.find(Tenant("nobody"), Where())).total == 0
    gone = await store.forget(Tenant("acme"), Where(states=frozenset(State)), later(1))
    assert len(gone) == 3
    assert await contents(store, rival) == ["c"]


@pytest.mark.requirement("M39")
@pytest.mark.parametrize(
    "where",
    [
        Where(created=(None, None)),
        Where(app=""),
        Where(project=""),
        Where(conversation_id=" "),
        Where(content=" \n"),
    ],
    ids=repr,
)
async def test_an_empty_filter_is_an_error(store: Store, where: Where) -> None:
    await keep(store, a_memory("kept", app="cli"))
    query = await vectors_of("kept")
    with pytest.raises(EmptyFilterError):
        await store.find(ALICE, where)
    with pytest.raises(EmptyFilterError):
        await store.search(ALICE, query, where, 5)
    with pytest.raises(EmptyFilterError):
        await store.forget(ALICE, where, later(1))
    with pytest.raises(EmptyFilterError):
        await store.forget(ALICE, Where(), later(1))
    assert await contents(store, ALICE) == ["kept"]
