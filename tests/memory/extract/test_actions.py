from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain import Learned, MemoryType, Pool, Via
from app.memory.extract.actions import MAX_ACTIONS, Action, learned, parse, spoken
from app.memory.extract.segment import QUOTED
from app.memory.secrets import MASK
from tests.build import a_memory

SAID = "I moved to Oslo, and I'd like short answers. I no longer own a car."
ROW: dict[str, Any] = {
    "action": "add",
    "id": None,
    "statement": "The user lives in Oslo.",
    "type": "semantic",
    "slot": "home_city",
    "quote": "I moved to Oslo",
    "confidence": 0.9,
}
PORTO = a_memory("The user lives in Porto.", slot="home_city")
CAR = a_memory("The user owns a car.", slot="owns.car")
YARN = a_memory("The team uses yarn.", slot="project.package_manager", pool=Pool.PROJECT)
KNOWN = {"m1": PORTO, "m2": CAR, "m3": YARN}


def row(**changes: Any) -> dict[str, Any]:
    return ROW | changes


def fact(said: str = SAID, **changes: Any) -> Learned | None:
    actions = parse(json.dumps([row(**changes)]))
    return learned(actions[0], KNOWN, said) if actions else None


ONE = json.dumps(ROW)


@pytest.mark.requirement("M28")
@pytest.mark.parametrize(
    "answer",
    [
        f'{{"actions": [{ONE}]}}',
        f'```json\n{{"actions": [{ONE}]}}\n```',
        f'Here {{you}} [are]: {{"actions": [{ONE}]}} Anything else?',
        f'Maybe [{{"act": "add"}}] or:{{"actions": [{ONE}]}}',
        f"[{ONE}]",
        ONE,
        f'{{"actions": [{ONE},],}}',
        f'{{"actions": [{ONE}, {{"action": "add", "statem',
        f'{{"actions": [{ONE}, 7, null, [], {{"action": "eat"}}, {{"action": "add"}}], "more": 1}}',
        f'{{"actions": [{ONE}, {ONE}]}}',
        json.dumps([row(confidence="high", type="strange", slot="no_such_slot", x=1) | ROW]),
    ],
)
@pytest.mark.fault(21)
def test_an_answer_is_read_however_it_is_wrapped(answer: str) -> None:
    (action,) = parse(answer) or []
    assert (action.kind, action.statement, action.slot) == ("add", ROW["statement"], "home_city")


@pytest.mark.parametrize("answer", ['{"actions": []}', "[]", 'None: {"actions": []}.'])
def test_nothing_is_an_answer(answer: str) -> None:
    assert parse(answer) == []


@pytest.mark.parametrize("answer", ["", "I learned nothing.", "{", "[1, 2]", '{"facts": []}', "42"])
def test_what_holds_no_actions_is_no_answer(answer: str) -> None:
    assert parse(answer) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"statement": ""},
        {"statement": 7},
        {"statement": "x" * 401},
        {"quote": None},
        {"quote": ""},
        {"action": "nothing"},
        {"action": ["add"]},
    ],
)
def test_a_malformed_row_is_dropped_and_the_others_stay(changes: dict[str, Any]) -> None:
    answer = {"actions": [row(**changes), row(statement="The user sails.")]}
    assert [action.statement for action in parse(json.dumps(answer)) or []] == ["The user sails."]


def test_odd_values_of_a_field_become_usual_ones() -> None:
    for confidence in ("high", None, -1, 7, float("nan"), [1]):
        (action,) = parse(json.dumps([row(confidence=confidence)])) or []
        assert action.confidence == 0.7
    (action,) = parse(json.dumps([row(type="episodic", slot={"a": 1}, id=3)])) or []
    assert (action.type, action.slot, action.name) == (MemoryType.SEMANTIC, None, None)


@given(st.text() | st.text(alphabet='{}[]",: \\ad1'))
def test_no_text_makes_it_raise(text: str) -> None:
    for found in parse(text) or []:
        learned(found, KNOWN, text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.sampled_from([*ROW, "actions", "x"]), inner, max_size=7)
        ),
    )
)
def test_no_json_makes_it_raise(value: Any) -> None:
    for action in parse(json.dumps({"actions": [value, row(quote=value)]})) or []:
        learned(action, KNOWN, SAID)


@pytest.mark.parametrize("deep", ["[" * 200_000, '{"a":' * 60_000, "[{" * 30_000, "1" * 60_000])
def test_depth_and_length_are_bounded(deep: str) -> None:
    assert parse(deep) is None


@pytest.mark.requirement("M28", "M29")
@pytest.mark.parametrize("quote", ["You live in Oslo", "I moved to Bergen", "to", "…", "I moved"])
def test_only_what_the_user_said_counts(quote: str) -> None:
    said = "I moved to Oslo."
    assert (fact(said, quote=quote) is not None) == (quote == "I moved")


def test_a_quote_is_found_whatever_its_case_spacing_and_punctuation() -> None:
    found = fact("Well: I  moved\nto «Oslo».", quote="i moved, to oslo")
    assert found is not None
    assert found.quote == "I  moved\nto «Oslo"
    assert spoken("我住在里斯本", "你好，我住在里斯本。") == "我住在里斯本"


def test_the_head_of_a_long_quote_is_enough() -> None:
    said = "I sail " + "and sail " * 90
    found = fact(said, quote=said)
    assert found is not None
    assert 290 < len(found.quote) <= 300


def test_the_number_of_actions_is_bounded() -> None:
    rows = [row(statement=f"The user owns boat {n}.") for n in range(200)]
    assert len(parse(json.dumps(rows)) or []) == MAX_ACTIONS


def test_a_new_fact_says_that_a_model_found_it() -> None:
    found = fact()
    assert found is not None
    assert (found.fact.content, found.fact.slot, found.pool) == (
        "The user lives in Oslo.",
        "home_city",
        Pool.USER,
    )
    assert (found.via, found.about, found.retracts) == (Via.LLM, (), False)


def test_an_update_names_the_memory_and_keeps_its_place() -> None:
    found = fact(action="update", id="m1", slot=None)
    assert found is not None
    assert (found.about, found.fact.slot) == ((PORTO.id,), "home_city")
    shared = fact(action="update", id="m3", slot=None, statement="The team uses pnpm.")
    assert shared is not None
    assert shared.pool is Pool.PROJECT


@pytest.mark.parametrize("name", ["m9", None, "", str(CAR.id)])
def test_an_id_that_was_not_shown_is_nobodys(name: str | None) -> None:
    found = fact(action="update", id=name)
    assert found is not None
    assert found.about == ()


@pytest.mark.requirement("M36")
@pytest.mark.parametrize(
    ("statement", "kept"),
    [
        ("The user no longer owns a car.", "The user no longer owns a car."),
        ("The user owns a car.", "No longer true: The user owns a car."),
        (None, "No longer true: The user owns a car."),
    ],
)
def test_a_retraction_never_confirms_what_it_takes_back(statement: str | None, kept: str) -> None:
    quote = "I no longer own a car"
    found = fact(action="retract", id="m2", statement=statement, quote=quote, slot=None)
    assert found is not None
    assert (found.fact.content, found.about, found.retracts) == (kept, (CAR.id,), True)


def test_a_retraction_of_nothing_says_nothing() -> None:
    assert fact(action="retract", id=None, statement=None) is None


@pytest.mark.requirement("M29", "M32")
def test_what_holds_a_secret_or_a_quotation_is_not_kept() -> None:
    said = f"My PIN is {MASK}. My boss said {QUOTED} to me."
    for quote in (f"My PIN is {MASK}", "My boss said to me"):
        assert learned(Action("add", "The user said so.", quote), {}, said) is None
    assert learned(Action("add", f"The PIN is {MASK}.", "My PIN is"), {}, said) is None
