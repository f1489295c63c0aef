from __future__ import annotations

import pytest

from app.domain import Call, Message, UserTurn
from app.memory.query import HEAD_CHARS, TAIL_CHARS, build_query, is_small_talk


@pytest.mark.requirement("M13")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "???",
        "👍👍",
        "hi",
        "Hi!",
        "Thanks a lot!!",
        "ok.",
        "GOOD MORNING",
        "Danke schön",
        "¡Gracias!",
        "D'accord.",
        "Bom dia :)",
        "你好！",
        "谢谢",
        "ありがとうございます。",
        "ping",
        "-" * 5000,
    ],
)
def test_small_talk_needs_no_memory(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.requirement("M13")
@pytest.mark.parametrize(
    "text",
    [
        "hi, where do I live?",
        "thanks, and my dog?",
        "Rex",
        "ok google my flights",
        "你好，我住在哪里？",
    ],
)
def test_anything_else_may_need_it(text: str) -> None:
    assert not is_small_talk(text)


def call(query: str, *before: str) -> Call:
    recent = tuple(Message("user", text) for text in before)
    return Call("chat", "m", b"", query=query, recent=(*recent, Message("assistant", "Sure.")))


@pytest.mark.requirement("M14")
@pytest.mark.parametrize("query", ["and that one?", "Is it far?", "Why?", "what about him"])
def test_a_leaning_turn_takes_the_one_before_along(query: str) -> None:
    built = build_query(call(query, "older", "Tell me about Sintra."))
    assert built == f"Tell me about Sintra.\n{query}"


@pytest.mark.requirement("M14")
@pytest.mark.parametrize(
    "query",
    ["Where is a good dentist in Porto?", "What should I cook for my sister tonight please?"],
)
def test_a_turn_that_stands_by_itself_does_not(query: str) -> None:
    assert build_query(call(query, "Tell me about Sintra.")) == query


def test_without_a_turn_before_it_stands_alone() -> None:
    assert build_query(call("Is it far?")) == "Is it far?"


@pytest.mark.requirement("M14")
def test_a_long_turn_is_bounded_to_head_and_end() -> None:
    built = build_query(call("Summarise this. " + "x" * 100_000 + " For my boss."))
    assert len(built) == HEAD_CHARS + 1 + TAIL_CHARS
    assert built.startswith("Summarise this.")
    assert built.endswith("For my boss.")


@pytest.mark.requirement("M14")
def test_what_a_model_wrote_is_searched_for_instead() -> None:
    turns = (UserTurn(0, "a"), UserTurn(2, "b", rewritten="How far is Sintra from Lisbon?"))
    before = (Message("user", "Tell me about Sintra."),)
    asked = Call("chat", "m", b"", query="Is it far?", recent=before, turns=turns)
    assert build_query(asked) == "How far is Sintra from Lisbon?"
