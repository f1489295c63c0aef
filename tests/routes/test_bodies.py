from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.domain import Event, MemoryType, State
from app.routes.bodies import NewMemory, Patch, corrected
from tests.build import a_memory, later

EVENT = Event(later(5), "corrected", "alice")


def test_content_is_cleaned() -> None:
    assert NewMemory(content="  cafe\u0301 \n").content == "café"


def test_times_without_a_zone_are_utc() -> None:
    body = NewMemory(content="x", valid_from=datetime(2026, 1, 1))  # noqa: DTZ001 on purpose
    assert body.valid_from == datetime(2026, 1, 1, tzinfo=UTC)


def test_a_patch_changes_only_what_it_names() -> None:
    memory = a_memory("x", slot="home_city", valid_to=later(9), quote="as said")
    same = corrected(memory, Patch(), EVENT)
    times = replace(memory.times, updated_at=EVENT.at)
    assert same == replace(memory, times=times, history=(EVENT,))
    patch = Patch(type=MemoryType.PROCEDURAL, pinned=True, state="rejected", importance=0.1)
    changed = corrected(memory, patch, EVENT)
    assert (changed.fact.type, changed.fact.pinned) == (MemoryType.PROCEDURAL, True)
    assert (changed.state, changed.fact.importance) == (State.REJECTED, 0.1)
    assert (changed.fact.slot, changed.origin.quote) == ("home_city", "as said")


@pytest.mark.parametrize("name", ["slot", "valid_to"])
def test_null_clears_what_may_be_empty(name: str) -> None:
    memory = a_memory("x", slot="home_city", valid_to=later(9))
    changed = corrected(memory, Patch.model_validate({name: None, "content": None}), EVENT)
    assert (changed.fact.slot, changed.times.valid_to)[name == "valid_to"] is None
    assert changed.fact.content == "x"


def test_new_words_are_nobodys_quotation() -> None:
    memory = a_memory("x", quote="as said")
    assert corrected(memory, Patch(content="y"), EVENT).origin.quote is None
