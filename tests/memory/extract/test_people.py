from __future__ import annotations

import pytest

from app.memory.extract.people import named, resolved
from tests.memory.extract.reading import EN, one_clause


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("I saw my aunt Olga", "my aunt Olga"),
        ("my supervisor Dr. Wren is strict", "my supervisor Dr. Wren"),
        ("my boss is German", "my boss"),
        ("I saw a film", None),
    ],
)
def test_whom_a_clause_names(text: str, person: str | None) -> None:
    assert named(text, EN) == person


@pytest.mark.parametrize(
    ("text", "person", "read"),
    [
        ("she sails", "my aunt Olga", "my aunt Olga sails"),
        ("She's a vet", "my aunt", "my aunt is a vet"),
        ("he sails", None, "he sails"),
        ("the shed is red", "my aunt", "the shed is red"),
    ],
)
def test_who_she_is(text: str, person: str | None, read: str) -> None:
    assert resolved(one_clause(text), person, EN).text == read
