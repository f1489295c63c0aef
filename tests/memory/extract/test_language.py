from __future__ import annotations

import re
import tomllib
from importlib.resources import files

import pytest

from app.domain import MemoryType, Pool
from app.memory.extract.language import NEVER, build, load
from app.memory.slots import is_known, is_single
from tests.memory.extract.reading import EN

CODES = sorted(
    path.name.removesuffix(".toml")
    for path in files("app.memory.extract").joinpath("languages").iterdir()
    if path.name.endswith(".toml")
)
# A quantified group that holds an unbounded one may take exponential time.
NESTED = re.compile(r"\([^()]*[*+]\)[*+]")


def test_a_language_may_be_almost_empty() -> None:
    small = build({"code": "xx"})
    assert small["question"] is NEVER
    assert (small.rules, small.dates.forms) == ((), ())
    assert not any(small.words.values())


def test_macros_and_words_are_put_in_however_deep() -> None:
    data = {
        "code": "xx",
        "words": {"cats": ["tom", "tim"]},
        "macros": {"pet": "(?:@cats@|rex)"},
        "patterns": {"mine": ["my @pet@", "our @pet@"]},
        "tools": [{"slot": "editor", "tool": "vim"}],
        "rules": [{"name": "t", "each": "tools", "match": "@tool@", "says": "x", "slot": "{slot}"}],
    }
    small = build(data)
    assert small["mine"].search("OUR Tim")
    assert not small["mine"].search("my dog")
    (rule,) = small.rules
    assert (rule.slot, bool(rule.match.search("vim"))) == ("editor", True)


def test_an_unknown_language_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        load("xx")


@pytest.mark.parametrize("code", CODES)
def test_every_slot_of_a_rule_is_in_the_table(code: str) -> None:
    used = {
        re.sub(r"\{\w+\}", "x", rule.slot)
        for rule in (*load(code).rules, *load(code).standing)
        if rule.slot
    }
    assert used
    assert {slot for slot in used if not is_known(slot)} == set()


@pytest.mark.parametrize("code", CODES)
def test_rules_are_of_their_kind(code: str) -> None:
    language = load(code)
    assert {rule.fact.type for rule in language.rules} == {MemoryType.SEMANTIC}
    assert {rule.fact.type for rule in language.standing} == {MemoryType.PROCEDURAL}
    shared = [rule for rule in language.rules if (rule.slot or "").startswith("project.")]
    assert {rule.pool for rule in shared} == {Pool.PROJECT}
    assert {rule.fact.lang for rule in language.rules} == {code}


@pytest.mark.parametrize("code", CODES)
def test_no_repetition_of_a_repetition(code: str) -> None:
    table = tomllib.loads(
        files("app.memory.extract").joinpath(f"languages/{code}.toml").read_text("utf-8")
    )
    texts = [str(value) for value in table["macros"].values()]
    texts += [row for rows in table["patterns"].values() for row in rows]
    texts += [rule["match"] for rule in table["rules"]]
    assert [text for text in texts if NESTED.search(text)] == []


def test_what_is_pinned_is_how_to_answer() -> None:
    pinned = {rule.slot for rule in (*EN.rules, *EN.standing) if rule.fact.pinned}
    assert pinned
    assert all(slot and slot.startswith(("answer_style.", "preferred_")) for slot in pinned)
    assert is_single("answer_style.length")
