from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.memory.slots import MAX_KEY_CHARS, SLOTS, is_known, is_single, normal_value, slot_key


@pytest.mark.requirement("M36")
@pytest.mark.parametrize(
    ("slot", "single"),
    [
        ("home_city", True),
        ("employer", True),
        ("likes.thai_food", True),
        ("owns.bike", True),
        ("answer_style.length", True),
        ("project.package_manager", True),
        ("allergy", False),
        ("language", False),
        ("programming_language", False),
        ("pet.dog", False),
        ("pet.dog.name", False),
        ("child.name", False),
        ("project.language", False),
        ("unheard.of", False),
        ("likes.", False),
        ("", False),
    ],
)
def test_which_slots_hold_one_value(slot: str, *, single: bool) -> None:
    assert is_single(slot) is single


def test_the_table_is_documented_and_has_no_double() -> None:
    assert all(row.meaning for row in SLOTS)
    assert len({row.name for row in SLOTS}) == len(SLOTS)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Thai food", "thai_food"),
        ("the sea", "sea"),
        ("C++", "c"),
        ("  my Bike! ", "bike"),
        ("花生", "花生"),
        ("…", ""),
    ],
)
def test_text_as_a_part_of_a_slot(text: str, key: str) -> None:
    assert slot_key(text) == key


@given(st.text())
def test_a_key_is_one_short_part(text: str) -> None:
    key = slot_key(text)
    assert len(key) <= MAX_KEY_CHARS
    assert "." not in key
    assert not any(character.isspace() for character in key)


@pytest.mark.parametrize(
    ("slot", "one", "other"),
    [
        ("home_city", "NYC", "the New York City."),
        ("home_country", "U.S.A.", "the United States"),
        ("editor", "VSCode", "vs code"),
        ("os", "Mac", "macOS"),
        ("project.database", "Postgres", "PostgreSQL"),
        ("diet", "Vegan ", "vegan"),
    ],
)
def test_two_names_of_one_value(slot: str, one: str, other: str) -> None:
    assert normal_value(slot, one) == normal_value(slot, other)


def test_values_that_differ_stay_different() -> None:
    assert normal_value("home_city", "Graz") != normal_value("home_city", "Linz")
    assert normal_value("name", "LA") != normal_value("home_city", "LA")


@given(st.text(max_size=60))
def test_a_normal_value_is_stable(value: str) -> None:
    once = normal_value("diet", value)
    assert normal_value("diet", once) in {once, normal_value("diet", normal_value("diet", once))}


@pytest.mark.parametrize(
    ("slot", "known"),
    [
        ("home_city", True),
        ("pet.dog.name", True),
        ("pet.*.name", True),
        ("pet", False),
        ("", False),
    ],
)
def test_which_slots_are_in_the_table(slot: str, *, known: bool) -> None:
    assert is_known(slot) == known
