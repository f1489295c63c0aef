from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from app.domain import Change, Links, Owner, State, Where
from app.errors import StoreError
from app.memory.remember import ATTEMPTS, NEIGHBOURS, Rememberer
from app.memory.stores.base import PayloadStore
from app.memory.stores.inmemory import InMemoryEngine
from tests.build import ALICE, BOB, EMBED, KEY, a_memory, contents, keep, later

ACTIVE = Where(states=frozenset({State.ACTIVE}))


class Contested(PayloadStore[object]):
    """A store in which somebody else wins the first few writes."""

    def __init__(self, losses: int) -> None:
        super().__init__(InMemoryEngine(), KEY)  # type: ignore[arg-type]
        self.losses = losses

    async def save(self, owner: Owner, changes: Sequence[Change]) -> list[bool]:
        kept = [change for change in changes if not (self.losses and change.expect)]
        done = await super().save(owner, kept)
        if len(kept) < len(changes):
            self.losses -= 1
            return [change in kept and done[kept.index(change)] for change in changes]
        return done


async def two_homes(store: Contested) -> None:
    boston = a_memory("The user lives in Boston.", slot="home_city")
    await keep(store, boston)
    porto = a_memory("The user lives in Porto.", slot="home_city", at=later(9))
    row = await Rememberer(store, EMBED).remember(ALICE, porto)
    assert row is not None
    assert row.id == porto.id


@pytest.mark.requirement("M35")
@pytest.mark.parametrize("losses", [0, 1, ATTEMPTS - 1])
async def test_a_lost_race_is_decided_anew_to_the_same_end(losses: int) -> None:
    store = Contested(losses)
    await two_homes(store)
    assert await contents(store, ALICE, ACTIVE) == ["The user lives in Porto."]


async def test_a_race_that_is_lost_for_good_is_an_error() -> None:
    with pytest.raises(StoreError):
        await two_homes(Contested(ATTEMPTS))


async def test_what_is_known_is_reinforced_not_doubled() -> None:
    store = Contested(0)
    rememberer = Rememberer(store, EMBED)
    rows = [await rememberer.remember(ALICE, a_memory("The user likes tea.")) for _ in range(3)]
    assert len({row.id for row in rows if row}) == 1
    assert await contents(store, ALICE) == ["The user likes tea."]


@pytest.mark.requirement("M35")
async def test_writers_at_the_same_time_leave_one_value() -> None:
    store = Contested(0)
    rememberer = Rememberer(store, EMBED)
    homes = [
        a_memory(f"The user lives in Town{n}.", slot="home_city", at=later(n)) for n in range(6)
    ]
    await asyncio.gather(*(rememberer.remember(ALICE, home) for home in homes))
    await rememberer.remember(ALICE, homes[-1])
    assert await contents(store, ALICE, ACTIVE) == ["The user lives in Town5."]


async def test_a_rejected_statement_is_not_said_again() -> None:
    store = Contested(0)
    await keep(store, a_memory("The user likes tea.", state=State.REJECTED))
    assert await Rememberer(store, EMBED).remember(ALICE, a_memory("The user likes tea.")) is None


@pytest.mark.requirement("M9", "M35")
async def test_only_an_owners_own_memory_can_be_named() -> None:
    store = Contested(0)
    mine, theirs = a_memory("The user owns a car."), a_memory("The user owns a boat.", BOB)
    nearer = [a_memory(f"All of that was bought in town {n}.") for n in range(NEIGHBOURS + 4)]
    await keep(store, mine, theirs, *nearer)
    links = Links(supersedes=(mine.id, theirs.id, uuid4()))
    new = replace(a_memory("All of that was sold.", at=later(9)), links=links)
    row = await Rememberer(store, EMBED).remember(ALICE, new)
    assert row is not None
    assert row.links.supersedes == (mine.id,)
    left = await contents(store, ALICE, ACTIVE)
    assert left[0] == "All of that was sold."
    assert mine.fact.content not in left
    assert await contents(store, BOB, ACTIVE) == ["The user owns a boat."]


@pytest.mark.requirement("M37")
async def test_both_sides_of_a_conflict_are_looked_at() -> None:
    store = Contested(0)
    rememberer = Rememberer(store, EMBED)
    given: dict[str, Any] = {"slot": "home_city", "source_turn": "r"}
    for content in ("Home is Boston.", "The user lives in Porto."):
        await rememberer.remember(ALICE, a_memory(content, **given))
    pending = Where(states=frozenset({State.PENDING}))
    assert await contents(store, ALICE, pending) == ["Home is Boston."]
    nearer = [f"The user lives in Oslo on floor {n}." for n in range(NEIGHBOURS + 4)]
    await keep(store, *map(a_memory, nearer))
    oslo = a_memory("The user lives in Oslo.", slot="home_city", at=later(9))
    await rememberer.remember(ALICE, oslo)
    assert await contents(store, ALICE, pending) == []
    assert set(await contents(store, ALICE, ACTIVE)) == {*nearer, "The user lives in Oslo."}


@pytest.mark.requirement("M37")
@pytest.mark.parametrize("losses", [0, 1])
async def test_an_opposite_is_found_among_many(losses: int) -> None:
    store = Contested(0)
    rememberer = Rememberer(store, EMBED)
    others = [a_memory(f"The user bought a boat in town {n}.") for n in range(NEIGHBOURS + 4)]
    likes = a_memory("The user likes coffee.")
    await keep(store, *others, likes)
    store.losses = losses
    against = await rememberer.remember(
        ALICE, a_memory("The user doesn't like coffee.", at=later(9))
    )
    assert against is not None
    pending = Where(states=frozenset({State.PENDING}))
    assert await contents(store, ALICE, pending) == ["The user likes coffee."]
    again = await rememberer.remember(ALICE, a_memory("The user likes coffee.", at=later(20)))
    assert again is not None
    left = await contents(store, ALICE, ACTIVE)
    assert [content for content in left if "coffee" in content] == ["The user likes coffee."]
    assert await contents(store, ALICE, pending) == []
