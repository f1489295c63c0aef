from __future__ import annotations

import dataclasses

import pytest

from app.domain import Change, Memory, MemoryType, Owner, State, Tenant, Where
from app.errors import EmptyFilterError, StoreError
from tests.build import START, a_memory


@pytest.mark.requirement("M39")
@pytest.mark.parametrize("field", ["ids", "states", "types", "slots"])
def test_an_empty_set_is_an_error_and_never_everything(field: str) -> None:
    with pytest.raises(EmptyFilterError, match=field):
        Where(**{field: frozenset()})  # type: ignore[arg-type]
    assert issubclass(EmptyFilterError, StoreError)


@pytest.mark.requirement("M39")
def test_a_filter_that_asks_nothing_is_not_selective() -> None:
    assert not Where().selective
    for where in (
        Where(pinned=False),
        Where(app="cli"),
        Where(created=(START, None)),
        Where(states=frozenset(State)),
        Where(types=frozenset({MemoryType.EPISODIC})),
    ):
        assert where.selective


@pytest.mark.requirement("M2")
def test_the_states() -> None:
    names = "active pending superseded expired rejected forgotten"
    assert [state.value for state in State] == names.split(" ")


def test_no_identity_and_no_content_is_shown() -> None:
    memory: Memory = a_memory(
        "XX content",
        Owner("XX tenant", "XX user", "XX project"),
        quote="XX quote",
        conversation_id="XX talk",
        created_by="XX author",
    )
    for value in (
        memory,
        Change(memory, expect=memory),
        Tenant("XX"),
        Where(content="XX", project="XX", conversation_id="XX"),
    ):
        assert "XX" not in repr(value)


def test_values_do_not_change() -> None:
    memory = a_memory("I like tea")
    with pytest.raises(dataclasses.FrozenInstanceError):
        memory.state = State.FORGOTTEN  # type: ignore[misc]
    assert memory == dataclasses.replace(memory)
    assert hash(memory.owner) == hash(dataclasses.replace(memory.owner))
