from __future__ import annotations

import pytest

from app.domain import Pool
from app.memory.extract.classify import Kind
from app.memory.extract.generic import MAX_CHARS, continued, generic, goes_on, is_own, own_run
from app.memory.extract.wording import plain
from tests.memory.extract.reading import AT, EN, one_clause


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("I sing in a choir", "The user sings in a choir."),
        ("my car is a red Fiat", "The user's car is a red Fiat."),
        ("my uncle Per hates jazz", "The user's uncle Per hates jazz."),
        ("a colleague of mine sails", "A colleague of the user sails."),
        ("Per, my uncle, sells boats", "Per, the user's uncle, sells boats."),
        ("yesterday I swam 2k", "On 2026-11-29 the user swam 2k."),
        ("I'm flying to Oslo next Friday", "The user is flying to Oslo on 2026-12-04."),
        ("working on a novel about bees", "The user is working on a novel about bees."),
        ("adopted a stray last month", "The user adopted a stray in October 2026."),
        ("I have to renew my visa by May 3", "The user has to renew their visa by May 3, 2027."),
        ("we painted our house", "The user and others painted their house."),
        ("we hired two engineers", "The user's team hired two engineers."),
        ("our staging server is called tern", "The project's staging server is called tern."),
    ],
)
def test_what_is_kept(text: str, content: str) -> None:
    clause = one_clause(text)
    assert is_own(clause, EN)
    assert generic(clause, AT, EN).fact.content == content


@pytest.mark.requirement("M29")
@pytest.mark.parametrize(
    "text",
    [
        "I'm tired",
        "I'm back",
        "I'm getting an error",
        "I think you're right",
        "I like it",
        "I love the second option",
        "I need help with my knots",
        "I want to see more",
        "I have a question",
        "I don't understand monads",
        "my question is about ropes",
        "my function returns the wrong list",
        "I had soup today",
        "I was wondering about that",
        "she sails",
        "it was cold",
        "the sea is blue",
        "rope is strong",
        "I agree",
    ],
)
def test_what_is_not(text: str) -> None:
    assert not is_own(one_clause(text), EN)


def test_only_what_is_plainly_the_projects_is_shared() -> None:
    assert generic(one_clause("we use feature flags in staging"), AT, EN).pool is Pool.PROJECT
    for text in ("we use a tent", "our wedding is in June", "we run every morning"):
        assert generic(one_clause(text), AT, EN).pool is Pool.USER


def test_what_lies_behind_is_dated_and_what_lies_ahead_is_not() -> None:
    assert generic(one_clause("I swam there in May"), AT, EN).valid_from is not None
    assert generic(one_clause("my exam is in May"), AT, EN).valid_from is None


def test_clauses_go_together_until_one_is_not_kept() -> None:
    parts = [one_clause(t) for t in ("I tried skiing", "it was cold", "I'm tired")]
    assert list(own_run(parts, EN)) == parts[:2]
    assert list(own_run(parts[2:], EN)) == []


@pytest.mark.parametrize(
    ("text", "goes"),
    [
        ("It was far too cold.", True),
        ("The snow was wet.", True),
        ("It is your turn.", False),
        ("Bananas are yellow.", False),
        ("It was.", False),
    ],
)
def test_a_sentence_may_go_on(text: str, *, goes: bool) -> None:
    assert goes_on(plain(text), Kind.STATEMENT, EN) is goes
    assert goes_on(plain(text), Kind.QUESTION, EN) is False


def test_a_fact_grows_only_so_long() -> None:
    fact = generic(one_clause("I tried skiing"), AT, EN)
    longer = continued(fact, "It was cold.")
    assert longer is not None
    assert longer.fact.content == "The user tried skiing. It was cold."
    assert continued(fact, "x" * MAX_CHARS) is None
