from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest

from app.domain import Fact, Learned, Owner, Policy, Pool, Source, State, Topic, Turn, Via, Where
from app.filters.reconcile import Remember, build
from app.memory.remember import Rememberer
from app.memory.revise import Reviser
from app.memory.stores.base import PayloadStore
from app.memory.stores.inmemory import InMemoryEngine
from app.ports import Store
from tests.build import ALICE, BOB, EMBED, KEY, START, contents, later

LISBON = Learned(Fact("The user lives in Lisbon.", slot="home_city"), "I live in Lisbon")
ACTIVE = Where(states=frozenset({State.ACTIVE}))
PORTO = Learned(Fact("The user lives in Porto.", slot="home_city"), "I moved to Porto")


def turn(
    *learned: Learned,
    owner: Owner = ALICE,
    key: str = "k",
    at: float = 0,
    opening: bool = False,
) -> Turn:
    source = Source(app="cli", turn_key=key, opening=opening)
    return Turn(f"req_{key}", later(at), owner, Policy(), source, "", learned=learned)


@pytest.fixture
def store() -> Store:
    return PayloadStore(InMemoryEngine(), KEY)


@pytest.fixture
def remember(store: Store) -> Remember:
    return Remember(Rememberer(store, EMBED))


@pytest.mark.requirement("M1")
def test_a_fact_becomes_a_memory_that_says_where_it_came_from() -> None:
    memory = build(turn(LISBON), LISBON)
    assert (memory.owner, memory.pool, memory.state) == (ALICE, Pool.USER, State.ACTIVE)
    assert memory.origin.created_via is Via.HEURISTIC
    assert memory.origin.created_by == "alice"
    assert (memory.origin.app, memory.origin.source_turn) == ("cli", "req_k")
    assert memory.origin.quote == "I live in Lisbon"
    assert memory.times.valid_from == START


@pytest.mark.requirement("M1", "M28")
def test_it_says_who_found_it_and_what_it_takes_the_place_of() -> None:
    old = uuid4()
    found = replace(PORTO, via=Via.LLM, about=(old,))
    memory = build(turn(found), found)
    assert (memory.origin.created_via, memory.links.supersedes) == (Via.LLM, (old,))
    silent = replace(turn(LISBON), policy=Policy(extractor="none"))  # an episode is kept even then
    assert build(silent, LISBON).origin.created_via is Via.HEURISTIC


@pytest.mark.requirement("M9")
def test_what_is_about_the_project_goes_to_its_pool_if_there_is_one() -> None:
    shared = replace(LISBON, pool=Pool.PROJECT)
    assert build(turn(shared), shared).pool is Pool.USER
    member = Owner("acme", "alice", "apollo")
    assert build(turn(shared, owner=member), shared).pool is Pool.PROJECT


async def test_the_same_turn_leaves_one_row(store: Store, remember: Remember) -> None:
    first = await remember(turn(LISBON))
    again = await remember(turn(LISBON))
    assert first.outcome.stored == again.outcome.stored
    (memory,) = (await store.find(ALICE, Where())).memories
    assert [event.event for event in memory.history] == ["created"]


@pytest.mark.requirement("M40")
async def test_the_same_turn_cannot_bring_back_what_was_forgotten(
    store: Store, remember: Remember
) -> None:
    await remember(turn(LISBON))
    await store.forget(ALICE, Where(slots=frozenset({"home_city"})), later(5))
    for key in ("k", "other"):  # sent again, and learned from another turn of that time
        done = await remember(turn(LISBON, key=key))
        assert done.outcome.stored == ()
    assert await contents(store, ALICE) == []
    await remember(turn(LISBON, key="new", at=10))
    assert await contents(store, ALICE) == ["The user lives in Lisbon."]


@pytest.mark.requirement("M40")
async def test_a_conversation_may_open_with_what_was_forgotten_before(
    store: Store, remember: Remember
) -> None:
    await remember(turn(LISBON, opening=True))
    await store.forget(ALICE, Where(slots=frozenset({"home_city"})), later(5))
    await remember(turn(LISBON, opening=True, at=4))
    await remember(turn(LISBON, at=10))
    assert await contents(store, ALICE) == []
    for _ in range(2):  # learned once
        done = await remember(turn(LISBON, opening=True, at=10))
        assert len(done.outcome.stored) == 1
    assert await contents(store, ALICE) == ["The user lives in Lisbon."]


@pytest.mark.requirement("M35")
async def test_there_and_back_again(store: Store, remember: Remember) -> None:
    active = Where(states=frozenset({State.ACTIVE}))
    for at, fact, key in ((0, LISBON, "l"), (5, PORTO, "p"), (9, LISBON, "l"), (12, PORTO, "p")):
        for _ in range(2):
            await remember(turn(fact, key=key, at=at, opening=True))
        assert await contents(store, ALICE, active) == [fact.fact.content]
    assert len(await contents(store, ALICE, Where(states=frozenset({State.SUPERSEDED})))) == 3


@pytest.mark.requirement("M35")
async def test_a_new_value_supersedes_across_turns(store: Store, remember: Remember) -> None:
    await remember(turn(LISBON))
    await remember(turn(PORTO, key="k2", at=5))
    active = Where(states=frozenset({State.ACTIVE}))
    assert await contents(store, ALICE, active) == ["The user lives in Porto."]
    old = Where(states=frozenset({State.SUPERSEDED}))
    assert await contents(store, ALICE, old) == ["The user lives in Lisbon."]


async def test_facts_of_one_turn_meet_each_other(store: Store, remember: Remember) -> None:
    again = replace(LISBON, fact=replace(LISBON.fact, content="The user lives in Lisbon!"))
    await remember(turn(LISBON, again))
    assert len(await contents(store, ALICE)) == 1


@pytest.mark.requirement("M9")
async def test_two_users_with_the_same_words_have_a_row_each(
    store: Store, remember: Remember
) -> None:
    await remember(turn(LISBON))
    await remember(turn(LISBON, owner=BOB))
    assert await contents(store, ALICE) == await contents(store, BOB) != []


async def test_what_waits_for_a_person_is_told_apart(remember: Remember) -> None:
    waiting = replace(LISBON, state=State.PENDING)
    done = await remember(turn(waiting))
    assert (len(done.outcome.pending), done.outcome.stored) == (1, ())


def about(content: str, *words: str, kept: bool) -> Learned:
    topic = Topic(frozenset(words), kept=kept)
    return Learned(Fact(content), content, retracts=True, topic=topic)


BIKE = Learned(Fact("The user has a red bike."), "I have a red bike")
FORGET = about("Forget what I said about the bike.", "bike", kept=False)


@pytest.mark.requirement("M36")
async def test_what_is_over_is_superseded_by_what_says_so(remember: Remember, store: Store) -> None:
    sold = about("The user sold the bike.", "bike", kept=True)
    await remember(turn(BIKE, LISBON, key="1"))
    await remember(turn(sold, key="2", at=9))
    assert await contents(store, ALICE, ACTIVE) == [
        "The user sold the bike.",
        "The user lives in Lisbon.",
    ]
    ended = Where(states=frozenset({State.SUPERSEDED}))
    (old,) = (await store.find(ALICE, ended)).memories
    (new,) = (await store.find(ALICE, Where(content=sold.fact.content))).memories
    assert (old.links.superseded_by, new.links.supersedes) == (new.id, (old.id,))


@pytest.mark.requirement("M36")
async def test_what_is_taken_back_ends_and_can_be_brought_back(
    remember: Remember, store: Store
) -> None:
    await remember(turn(BIKE, LISBON, key="1"))
    done = await remember(turn(FORGET, key="2", at=9))
    assert done.outcome.stored == ()
    assert await contents(store, ALICE, ACTIVE) == ["The user lives in Lisbon."]
    (old,) = (await store.find(ALICE, Where(states=frozenset({State.EXPIRED})))).memories
    assert (old.history[-1].event, old.history[-1].reason) == ("expired", "retracted")
    back = await Reviser(store).restore(old, "alice")
    assert back is not None
    assert sorted(await contents(store, ALICE, ACTIVE)) == [
        "The user has a red bike.",
        "The user lives in Lisbon.",
    ]


@pytest.mark.requirement("M9", "M36")
async def test_nobody_takes_back_what_another_said(remember: Remember, store: Store) -> None:
    await remember(turn(BIKE, key="1"))
    await remember(turn(FORGET, key="2", at=9, owner=BOB))
    assert await contents(store, ALICE, ACTIVE) == ["The user has a red bike."]


@pytest.mark.requirement("M36")
async def test_what_is_said_after_it_was_taken_back_is_kept(
    remember: Remember, store: Store
) -> None:
    await remember(turn(BIKE, key="1"))
    await remember(turn(FORGET, key="2", at=9))
    await remember(turn(BIKE, key="3", at=18))
    assert await contents(store, ALICE, ACTIVE) == ["The user has a red bike."]
