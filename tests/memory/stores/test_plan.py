"""No condition leaves the plan without an owner in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain import MemoryType, Owner, Pool, Scope, State, Tenant, Where
from app.errors import EmptyFilterError
from app.memory.rows import digest
from app.memory.stores.plan import Plan, shelf
from tests.build import ALICE, KEY, START, a_memory, later

Condition = tuple[Any, ...]


class Spoken:
    """Conditions as nested tuples."""

    def equals(self, key: str, value: str | int) -> Condition:
        return ("equals", key, value)

    def differs(self, key: str, value: str) -> Condition:
        return ("differs", key, value)

    def among(self, key: str, values: Sequence[str]) -> Condition:
        return ("among", key, tuple(values))

    def between(self, key: str, low: int | None, high: int | None) -> Condition:
        return ("between", key, low, high)

    def ids(self, ids: Iterable[UUID]) -> Condition:
        return ("ids", frozenset(ids))

    def every(self, conditions: Sequence[Condition]) -> Condition:
        return ("every", *conditions)

    def either(self, conditions: Sequence[Condition]) -> Condition:
        return ("either", *conditions)


PLAN = Plan(Spoken(), KEY)
names = st.text(min_size=1, max_size=8).filter(str.strip)
some = st.none() | names
wheres = st.builds(
    Where,
    ids=st.none() | st.frozensets(st.uuids(), min_size=1, max_size=2),
    states=st.none() | st.frozensets(st.sampled_from(State), min_size=1),
    types=st.none() | st.frozensets(st.sampled_from(MemoryType), min_size=1),
    slots=st.none() | st.frozensets(names, min_size=1, max_size=2),
    project=some,
    app=some,
    conversation_id=some,
    pinned=st.none() | st.booleans(),
    created=st.none() | st.just((START, None)),
    content=some,
)
owners = st.builds(Owner, tenant=names, user=names, project=some)


def must_hold(condition: Condition) -> set[Condition]:
    """What holds whenever the condition does."""
    if condition[0] == "every":
        return set().union(*map(must_hold, condition[1:]))
    if condition[0] == "either":
        return set.intersection(*map(must_hold, condition[1:]))
    return {condition}


@pytest.mark.requirement("M9")
@given(owners, wheres)
def test_the_tenant_always_and_the_user_unless_shared(owner: Owner, where: Where) -> None:
    condition = PLAN.visible(owner, where)
    while condition[0] == "every":
        condition = condition[1]
    kind, key, *shelves = condition
    allowed = {shelf(owner, pool, state) for pool in Pool for state in where.states or State}
    if owner.project is None:
        allowed = {one for one in allowed if ":user:" in one}
    assert (kind, key) == ("among", "shelf")
    assert set(*shelves) <= allowed
    row = {"id": "mem_" + "0" * 32, "state": "active", "updated_us": 5}
    condition = PLAN.unchanged(owner, row)
    assert ("equals", "tenant", owner.tenant) in must_hold(condition)
    if owner.project is None:
        assert ("equals", "user", owner.user) in must_hold(condition)
    owned = must_hold(PLAN.owned(owner, where))
    assert {("equals", "tenant", owner.tenant), ("equals", "user", owner.user)} <= owned
    assert ("equals", "tenant", "x") in must_hold(PLAN.visible(Tenant("x"), where))
    assert ("equals", "tenant", "x") in must_hold(PLAN.owned(Tenant("x"), where))


@pytest.mark.requirement("M2", "M9")
def test_one_sees_ones_own_pool_and_the_projects() -> None:
    living = sorted(set(State) - {State.FORGOTTEN})
    own = [shelf(ALICE, Pool.USER, state) for state in living]
    assert PLAN.visible(ALICE, Where()) == ("every", ("among", "shelf", tuple(sorted(own))))
    member = replace(ALICE, project="site")
    both = sorted([*own, *(shelf(member, Pool.PROJECT, state) for state in living)])
    assert PLAN.visible(member, Where()) == ("every", ("among", "shelf", tuple(both)))


@pytest.mark.requirement("M9")
@given(owners, owners)
def test_no_two_owners_share_a_shelf(one: Owner, other: Owner) -> None:
    for pool in Pool:
        holders = [o.project if pool is Pool.PROJECT else o.user for o in (one, other)]
        same = one.tenant == other.tenant and holders[0] == holders[1]
        shelves = {shelf(owner, pool, State.ACTIVE) for owner in (one, other)}
        assert (len(shelves) == 1) is same
    assert shelf(one, Pool.USER, State.ACTIVE) != shelf(one, Pool.PROJECT, State.ACTIVE)


@pytest.mark.parametrize("scope", [ALICE, Tenant("acme")], ids=repr)
def test_every_field_of_a_filter_is_asked(scope: Scope) -> None:
    where = Where(
        ids=frozenset({a_memory("", id=UUID(int=1)).id}),
        states=frozenset({State.FORGOTTEN, State.ACTIVE}),
        types=frozenset({MemoryType.EPISODIC}),
        slots=frozenset({"b", "a"}),
        project="site",
        app="cli",
        conversation_id="c-1",
        pinned=False,
        created=(START, later(1)),
        content="Tea",
    )
    micro = 1767268800000000
    assert {
        ("ids", frozenset({UUID(int=1)})),
        ("among", "state", ("active", "forgotten")),
        ("among", "type", ("episodic",)),
        ("among", "slot", ("a", "b")),
        ("equals", "project", "site"),
        ("equals", "app", "cli"),
        ("equals", "conversation_id", "c-1"),
        ("equals", "pin", 0),
        ("between", "created_us", micro, micro + 1000000),
        ("equals", "digest", digest(KEY, "tea")),
    } <= must_hold(PLAN.owned(scope, where))


def test_an_unchanged_row_is_that_row_in_that_state_at_that_time() -> None:
    memory = a_memory("row", pool=Pool.PROJECT)
    row = {"id": f"mem_{memory.id.hex}", "state": "active", "updated_us": 5}
    held = must_hold(PLAN.unchanged(ALICE, row))
    version = {("equals", "state", "active"), ("equals", "updated_us", 5)}
    assert held >= version | {("ids", frozenset({memory.id}))}
    damaged = must_hold(PLAN.unchanged(ALICE, row | {"state": ["?"], "updated_us": None}))
    assert damaged == held - version


def test_pages_narrow_what_is_asked() -> None:
    condition = PLAN.visible(ALICE, Where())
    narrowed = must_hold(PLAN.also(condition, low=1, high=None))
    assert narrowed == must_hold(condition) | {("between", "created_us", 1, None)}


@pytest.mark.requirement("M39")
@pytest.mark.parametrize(
    ("field", "empty"),
    [
        ("app", ""),
        ("project", " "),
        ("conversation_id", "\t"),
        ("content", ""),
        ("created", (None,) * 2),
    ],
)
def test_an_empty_filter_is_an_error(field: str, empty: object) -> None:
    where = replace(Where(pinned=True), **{field: empty})  # type: ignore[arg-type]
    for ask in (PLAN.visible, PLAN.owned):
        with pytest.raises(EmptyFilterError, match=field):
            ask(ALICE, where)
