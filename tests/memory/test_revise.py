from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from app.domain import Change, Event, Links, Memory, Owner, Pool, State, Where
from app.errors import StoreError
from app.memory.remember import Rememberer
from app.memory.revise import ATTEMPTS, Reviser
from app.memory.stores.base import PayloadStore
from app.memory.stores.inmemory import InMemoryEngine
from tests.build import ALICE, EMBED, KEY, a_memory, contents, keep, later

ACTIVE = Where(states=frozenset({State.ACTIVE}))


class Contested(PayloadStore[object]):
    """A store in which somebody else wins some writes to these rows."""

    def __init__(self, losses: int = 0, contested: frozenset[str] = frozenset()) -> None:
        super().__init__(InMemoryEngine(), KEY)  # type: ignore[arg-type]
        self.losses = losses
        self.contested = contested

    async def save(self, owner: Owner, changes: Sequence[Change]) -> list[bool]:
        lost = [c for c in changes if self.losses and c.memory.fact.content in self.contested]
        self.losses -= bool(lost)
        kept = [change for change in changes if change not in lost]
        done = iter(await super().save(owner, kept))
        return [change not in lost and next(done) for change in changes]


async def read(store: Contested, memory: Memory) -> Memory:
    every = Where(ids=frozenset({memory.id}), states=frozenset(State))
    (found,) = (await store.find(memory.owner, every)).memories
    return found


async def homes(store: Contested, *names: str) -> list[Memory]:
    """One after the other, each supersedes the one before; as they are in the end."""
    rows = [a_memory(name, slot="home_city", at=later(n)) for n, name in enumerate(names)]
    for row in rows:
        await Rememberer(store, EMBED).remember(ALICE, row)
    return [await read(store, row) for row in rows]


@pytest.mark.requirement("M35")
async def test_a_supersession_is_undone_and_again_changes_nothing() -> None:
    store = Contested()
    boston, porto = await homes(store, "Boston", "Porto")
    reviser = Reviser(store)
    back = await reviser.restore(boston, "ana")
    assert back == await read(store, boston)
    assert await contents(store, ALICE, ACTIVE) == ["Boston"]
    ended = await read(store, porto)
    assert (ended.state, ended.links.superseded_by) == (State.SUPERSEDED, boston.id)
    assert await reviser.restore(back, "ana") == back
    again = await reviser.restore(ended, "ana")
    assert again is not None
    assert await contents(store, ALICE, ACTIVE) == ["Porto"]
    assert [e.event for e in again.history] == ["superseded", "restored"]


@pytest.mark.requirement("M35")
async def test_the_end_of_a_chain_gives_way() -> None:
    store = Contested()
    first, _, last = await homes(store, "Boston", "Porto", "Oslo")
    await Reviser(store).restore(first, "ana")
    assert await contents(store, ALICE, ACTIVE) == ["Boston"]
    assert (await read(store, last)).links.superseded_by == first.id


@pytest.mark.requirement("M35")
async def test_without_a_slot_the_successor_of_the_successor_gives_way() -> None:
    store = Contested()
    rows = [a_memory("A car."), a_memory("A red car.", at=later(1)), a_memory("Sold.", at=later(2))]
    await keep(store, rows[0])
    for before, row in pairwise(rows):
        named = replace(row, links=Links(supersedes=(before.id,)))
        await Rememberer(store, EMBED).remember(ALICE, named)
    await Reviser(store).restore(await read(store, rows[0]), "ana")
    assert await contents(store, ALICE, ACTIVE) == ["A car."]


async def test_what_was_forgotten_meanwhile_is_not_brought_back() -> None:
    store = Contested(1, frozenset({"Boston"}))
    boston, _ = await homes(store, "Boston", "Porto")
    store.losses = 1
    await store.forget(ALICE, Where(ids=frozenset({boston.id})), later(60))
    assert await Reviser(store).restore(boston, "ana") is None
    assert await Reviser(store).restore(replace(boston, state=State.REJECTED), "ana") is None


@pytest.mark.parametrize("contested", ["Boston", "Porto"])
async def test_a_lost_race_is_decided_anew(contested: str) -> None:
    store = Contested(0, frozenset({contested}))
    boston, porto = await homes(store, "Boston", "Porto")
    store.losses = ATTEMPTS - 1
    await Reviser(store).restore(boston, "ana")
    assert await contents(store, ALICE, ACTIVE) == ["Boston"]
    assert (await read(store, boston)).links.supersedes == (porto.id,)
    porto = (await store.find(ALICE, Where(states=frozenset({State.SUPERSEDED})))).memories[0]
    store.losses = ATTEMPTS
    with pytest.raises(StoreError):
        await Reviser(store).restore(porto, "ana")


async def conflict(store: Contested) -> tuple[Memory, Memory]:
    rows = [a_memory(name, slot="home_city", source_turn="r") for name in ("Boston", "Porto")]
    for row in rows:
        await Rememberer(store, EMBED).remember(ALICE, row)
    return await read(store, rows[0]), await read(store, rows[1])


def decided(memory: Memory, state: State) -> Memory:
    name = "activated" if state is State.ACTIVE else "rejected"
    return replace(memory, state=state, history=(*memory.history, Event(later(9), name, "ana")))


@pytest.mark.requirement("M37")
@pytest.mark.parametrize("accept", [0, 1])
@pytest.mark.parametrize("losses", [0, ATTEMPTS - 1])
async def test_one_side_is_accepted(accept: int, losses: int) -> None:
    store = Contested(0)
    sides = await conflict(store)
    winner, loser = sides[accept], sides[1 - accept]
    store.losses, store.contested = losses, frozenset({loser.fact.content})
    assert await Reviser(store).correct(winner, decided(winner, State.ACTIVE))
    winner, loser = await read(store, winner), await read(store, loser)
    assert (winner.state, loser.state) == (State.ACTIVE, State.SUPERSEDED)
    assert winner.links.conflicts_with == loser.links.conflicts_with == ()
    assert loser.links.superseded_by == winner.id


@pytest.mark.requirement("M37")
@pytest.mark.parametrize("reject", [0, 1])
async def test_one_side_is_rejected(reject: int) -> None:
    store = Contested()
    sides = await conflict(store)
    gone, other = sides[reject], sides[1 - reject]
    assert await Reviser(store).correct(gone, decided(gone, State.REJECTED))
    gone, other = await read(store, gone), await read(store, other)
    assert (gone.state, other.state) == (State.REJECTED, State.ACTIVE)
    assert gone.links.conflicts_with == other.links.conflicts_with == ()


async def test_a_row_that_has_changed_is_not_overwritten() -> None:
    store = Contested()
    waiting, holding = await conflict(store)
    stale = replace(waiting, times=replace(waiting.times, updated_at=later(-50)))
    assert not await Reviser(store).correct(stale, decided(stale, State.ACTIVE))
    assert (await read(store, holding)).state is State.ACTIVE
    edited = replace(stale, history=decided(stale, State.PENDING).history)
    assert not await Reviser(store).correct(stale, edited)


async def test_what_is_approved_takes_the_place_of_its_slots_value_in_its_pool() -> None:
    store = Contested()
    member = Owner("acme", "alice", "apollo")
    shared = a_memory("pnpm", member, slot="project.package_manager", pool=Pool.PROJECT)
    own = a_memory("npm", member, slot="project.package_manager")
    refused = replace(own, id=a_memory("x").id, fact=replace(own.fact, content="yarn"))
    refused = replace(refused, state=State.REJECTED)
    await keep(store, shared, own, refused)
    assert await Reviser(store).correct(refused, decided(refused, State.ACTIVE))
    assert sorted(await contents(store, member, ACTIVE)) == ["pnpm", "yarn"]
