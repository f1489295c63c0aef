from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain import (
    Event,
    Fact,
    Links,
    Memory,
    MemoryType,
    Origin,
    Owner,
    Pool,
    State,
    Times,
    Usage,
    Via,
    clean_text,
)
from app.memory.rows import (
    digest,
    from_micros,
    from_row,
    id_of,
    micros,
    parse_id,
    stamp,
    to_row,
    wire_id,
)
from tests.build import KEY, START, a_memory

texts = st.text(max_size=30)
some = st.none() | texts
moments = st.datetimes(
    min_value=datetime(1900, 1, 1),  # noqa: DTZ001 hypothesis adds the zone
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=-9, minutes=-30))]),
)
shares = st.floats(0, 1)
ids = st.lists(st.uuids(), max_size=3).map(tuple)
memories = st.builds(
    Memory,
    id=st.uuids(),
    owner=st.builds(Owner, texts, texts, some),
    pool=st.sampled_from(Pool),
    fact=st.builds(
        Fact, texts, st.sampled_from(MemoryType), some, shares, shares, st.booleans(), some
    ),
    state=st.sampled_from(State),
    times=st.builds(Times, moments, moments, moments, st.none() | moments, st.none() | moments),
    origin=st.builds(Origin, texts, st.sampled_from(Via), some, some, some, some),
    links=st.builds(Links, ids, st.none() | st.uuids(), ids, ids),
    usage=st.builds(Usage, st.integers(0, 1000), st.none() | moments),
    history=st.lists(st.builds(Event, moments, texts, texts, some), max_size=2).map(tuple),
)
# MEMORY.md, M1 (with `conflicts_with` from M37)
FIELDS = {
    *(
        "id",
        "tenant",
        "user",
        "project",
        "pool",
        "app",
        "type",
        "content",
        "slot",
        "state",
        "pinned",
    ),
    *("importance", "confidence", "valid_from", "valid_to", "created_at", "updated_at"),
    *("superseded_at", "last_used_at", "use_count", "created_by", "created_via"),
    *("conversation_id", "source_turn", "quote", "supersedes", "superseded_by", "derived_from"),
    *("conflicts_with", "lang", "history"),
}


@pytest.mark.requirement("M1")
@given(memories)
def test_a_row_is_the_whole_memory_as_plain_json(memory: Memory) -> None:
    row = to_row(memory)
    assert from_row(row) == memory
    assert from_row(json.loads(json.dumps(row))) == memory
    assert to_row(from_row(row)) == row


@pytest.mark.requirement("M1")
def test_the_fields_have_the_names_of_the_requirement() -> None:
    assert to_row(a_memory("")).keys() == FIELDS


def test_what_is_not_given_is_the_default() -> None:
    needed = {"id", "tenant", "user", "pool", "content", "state", "created_by"}
    needed |= {"valid_from", "created_at", "updated_at"}
    memory = a_memory("I like tea")
    row = {key: value for key, value in to_row(memory).items() if key in needed}
    assert from_row(row | {"mood": "unknown fields are passed over"}) == memory


@pytest.mark.parametrize(
    "damage",
    [
        {"id": "mem_5"},
        {"id": 5},
        {"tenant": None},
        {"user": 5},
        {"pool": "everyone"},
        {"state": "asleep"},
        {"content": None},
        {"content": ["secret"]},
        {"type": "dream"},
        {"pinned": "perhaps"},
        {"importance": "high"},
        {"created_at": "yesterday"},
        {"created_at": 1767268800},
        {"updated_at": "2026-01-01T12:00:00"},
        {"valid_to": "2026-13-01T00:00:00Z"},
        {"last_used_at": {}},
        {"use_count": "many"},
        {"created_via": "telepathy"},
        {"supersedes": ["secret"]},
        {"supersedes": 5},
        {"superseded_by": "secret"},
        {"history": None},
        {"history": ["secret"]},
        {"history": [{"event": "created"}]},
    ],
    ids=repr,
)
def test_what_is_not_a_memory_is_a_value_error_without_content(damage: dict[str, Any]) -> None:
    row = to_row(a_memory("secret"))
    for broken in (row | damage, {k: v for k, v in row.items() if k not in {"id", *damage}}):
        with pytest.raises(ValueError, match="not the row of a memory") as caught:
            from_row(broken)
        assert caught.value.__suppress_context__


@given(st.uuids())
def test_ids_on_the_wire(key: UUID) -> None:
    assert parse_id(wire_id(key)) == parse_id(str(key)) == id_of({"id": wire_id(key)}) == key
    assert wire_id(key).removeprefix("mem_").isalnum()


@pytest.mark.parametrize("text", ["", "mem_", "mem_x", "mem_" + "g" * 32, "mem_" + "0" * 31, "*"])
def test_what_is_no_id(text: str) -> None:
    assert parse_id(text) is None


@given(moments)
def test_micros_are_exact(moment: datetime) -> None:
    assert from_micros(micros(moment)) == moment
    assert micros(from_micros(micros(moment) + 1)) == micros(moment) + 1


def test_stamps_are_in_utc() -> None:
    east = timezone(timedelta(hours=3))
    assert stamp(START) == "2026-01-01T12:00:00Z"
    assert stamp(datetime(2026, 1, 1, 15, 0, 0, 5, tzinfo=east)) == "2026-01-01T12:00:00.000005Z"


@pytest.mark.requirement("M2")
@pytest.mark.parametrize(
    "other",
    ["i  LIKE\n tea ", "I like te\u0061", "\uff29 like tea", "I like\u00a0tea", "I\u3000like tea"],
)
def test_a_digest_is_blind_to_case_spacing_and_width(other: str) -> None:
    assert digest(KEY, other) == digest(KEY, "I like tea")


@pytest.mark.requirement("M2")
def test_a_digest_needs_its_key_and_tells_contents_apart() -> None:
    assert digest(KEY, "I like tea") != digest(b"another", "I like tea")
    assert digest(KEY, "I like tea") != digest(KEY, "I like teas")
    assert digest(KEY, "Caf\u00e9") == digest(KEY, "CAFE\u0301")
    assert len(digest(KEY, "")) == 32


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_what_was_cleaned_has_the_digest_of_what_was_said(said: str) -> None:
    assert digest(KEY, clean_text(said)) == digest(KEY, said)


def test_ids_of_new_memories_differ() -> None:
    assert wire_id(uuid4()) != wire_id(uuid4())
