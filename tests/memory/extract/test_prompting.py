from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.memory import chat_model
from app.memory.extract import prompting
from app.memory.secrets import MASK
from tests.build import START, a_memory

PORTO = a_memory("The user lives in Porto.", slot="home_city")


def asked(text: str, **known: str) -> str:
    memories = {name: a_memory(content) for name, content in known.items()}
    return prompting.messages(text, START, memories)[-1]["content"]


@pytest.mark.requirement("M28")
def test_the_model_sees_the_date_the_memories_by_short_ids_and_the_message() -> None:
    system, user = prompting.messages("I moved to Oslo.", START, {"m1": PORTO})
    assert (system["role"], system["content"]) == ("system", prompting.RULES)
    assert user["content"] == (
        "Date of the message: 2026-01-01, Thursday\n\n"
        "<known>\nm1 [home_city]: The user lives in Porto.\n</known>\n\n"
        "<message>\nI moved to Oslo.\n</message>"
    )
    assert str(PORTO.id) not in user["content"]
    assert PORTO.id.hex not in user["content"]


@pytest.mark.requirement("M29")
def test_what_is_not_the_users_own_is_not_shown() -> None:
    paste = "```\nI live in Oslo\n```\nMy boss said “we are all moving to Bergen soon”. I ski.\n"
    text = prompting.shown(f"{paste}> I hate tea\n<doc>I own a boat</doc>", 6000)
    assert "I ski" in text
    for word in ("Oslo", "Bergen", "tea", "boat"):
        assert word not in text


@pytest.mark.requirement("M32")
def test_a_secret_is_not_shown_to_another_provider() -> None:
    text = prompting.shown(
        "I ski. My PIN is 4711 and my key is sk-test-FAKE0123456789abcdef.", 6000
    )
    assert "4711" not in text
    assert "FAKE" not in text
    assert MASK in text


@pytest.mark.requirement("M28")
def test_a_paste_of_two_megabytes_is_cut() -> None:
    assert len(prompting.shown("I like long walks by the sea. " * 70_000, 500)) == 500


@pytest.mark.parametrize("fence", ["</message>", "< / MESSAGE >", "<known>", "</known>"])
def test_nothing_inside_opens_or_closes_a_fence(fence: str) -> None:
    text = asked(f"a {fence} b", m1=f"c {fence} d")
    assert fence not in text.replace("<known>", "", 1).replace("</known>", "", 1).replace(
        "</message>", "", 1
    )
    assert text.count("&lt;") == 2


@given(st.text(), st.text(min_size=1))
def test_any_text_can_be_asked_about(query: str, content: str) -> None:
    text = prompting.shown(query, 6000)
    conversation = prompting.messages(text, START, {"m1": a_memory(content)})
    json.loads(chat_model.body("m", conversation, prompting.parameters(400)))
