from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.dialects import located

scalars = st.none() | st.booleans() | st.integers() | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)


@given(st.dictionaries(st.text(), values), st.sampled_from([None, 0, 2]), st.booleans())
def test_members_are_where_they_say(
    value: dict[str, object], indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    found = located.members(text, 0)
    assert found.keys() == value.keys()
    for key, member in found.items():
        assert json.loads(text[member.start : member.end]) == value[key]


@given(st.lists(values, min_size=1), st.data())
def test_items_are_where_they_say(value: list[object], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(value) - 1))
    text = json.dumps(value, indent=1)
    item = located.items(text, 0)[place]
    assert json.loads(text[item.start : item.end]) == value[place]


@given(st.text())
def test_nothing_but_value_and_recursion_errors(text: str) -> None:
    for read in (located.decode, lambda t: located.members(t, 0), lambda t: located.items(t, 0)):
        with contextlib.suppress(ValueError, RecursionError):
            read(text)


def test_of_equal_keys_the_last_counts() -> None:
    assert located.members('{"a": 1, "a": [2]}', 0)["a"].value == [located.Number("2")]


@pytest.mark.parametrize("number", ["9" * 5000, "1e999", "-0.70", "NaN"])
def test_numbers_stay_as_they_were_written(number: str) -> None:
    assert located.decode(f'{{"n": {number}}}') == {"n": located.Number(number)}


def test_deep_nesting_is_a_recursion_error() -> None:
    with pytest.raises(RecursionError):
        located.decode("[" * 100_000)
