from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.dialects.prefix import user_turns

texts = st.text(max_size=12)
parts = st.lists(
    st.fixed_dictionaries({"type": st.just("text"), "text": texts})
    | st.fixed_dictionaries({"type": st.just("image_url"), "image_url": texts}),
    max_size=3,
)
calls = st.lists(st.fixed_dictionaries({"id": texts, "function": texts}), max_size=2)
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "tool"]), "content": texts | parts},
    optional={"name": texts, "tool_calls": calls, "tool_call_id": texts},
)
histories = st.lists(messages, min_size=1, max_size=6)


def keys(history: list[dict[str, Any]]) -> list[str]:
    return [turn.key for turn in user_turns(history)]


def rewritten(message: dict[str, Any], flags: list[bool]) -> dict[str, Any]:
    """The message as a client may send it the next time, without meaning anything by it."""
    spaced, listed, named, absent, cached = flags
    new = copy.deepcopy(message)
    if isinstance(new["content"], str):
        new["content"] += " \n" if spaced else ""
        if listed:
            new["content"] = [{"type": "text", "text": new["content"]}]
    if named:
        new["id"] = "msg_1"
    if absent:
        new |= {"refusal": None, "annotations": []}
    if cached and isinstance(new["content"], list):
        for part in new["content"]:
            part["cache_control"] = {"type": "ephemeral"}
    return dict(reversed(new.items()))


@pytest.mark.requirement("M24")
@given(histories, st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=6, max_size=6))
def test_keys_do_not_see_what_clients_rewrite_harmlessly(
    history: list[dict[str, Any]], flags: list[list[bool]]
) -> None:
    again = [rewritten(m, f) for m, f in zip(history, flags, strict=False)]
    assert keys(again) == keys(history)


@pytest.mark.requirement("M24")
@given(histories, histories)
def test_a_longer_conversation_begins_with_the_same_keys(
    history: list[dict[str, Any]], more: list[dict[str, Any]]
) -> None:
    assert keys(history + more)[: len(keys(history))] == keys(history)


@pytest.mark.requirement("M24")
@given(histories, st.data())
def test_keys_see_everything_else(history: list[dict[str, Any]], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(history) - 1))
    changed = copy.deepcopy(history)
    match data.draw(st.sampled_from(["content", "role", "name", "tool_calls", "dropped"])):
        case "content" if isinstance(changed[place]["content"], str):
            changed[place]["content"] += "x"
        case "content":
            changed[place]["content"].append({"type": "image_url", "image_url": "new"})
        case "role":
            changed[place]["role"] += "x"
        case "name":
            changed[place]["name"] = changed[place].get("name", "") + "x"
        case "tool_calls":
            changed[place].setdefault("tool_calls", []).append({"id": "new", "function": "f"})
        case _:
            changed[place]["content"] = "gone" if changed[place]["content"] != "gone" else "came"
    behind = {turn.key for turn in user_turns(history) if turn.place >= place}
    assert behind.isdisjoint(keys(changed))
    before = [turn.key for turn in user_turns(history) if turn.place < place]
    assert keys(changed)[: len(before)] == before


def test_messages_do_not_run_together() -> None:
    user = {"role": "user", "content": "b"}
    split = [{"role": "user", "content": "a"}, user]
    joined = [{"role": "user", "content": "a\0user\0b"}, user]
    assert keys(split)[-1] != keys(joined)[-1]


def test_lone_surrogates_have_a_key_too() -> None:
    assert len(keys([{"role": "user", "content": "\ud800"}])) == 1
