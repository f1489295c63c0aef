from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.dialects.chat import ChatDialect
from app.errors import RejectedError

chat = ChatDialect()
BLOCK = '<memory>\n- The user\'s "dog" is called Rex. 狗\n</memory>'


def body(messages: Any, **fields: Any) -> bytes:
    return json.dumps({"model": "gpt", "messages": messages, **fields}).encode()


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def test_reads_model_stream_and_the_last_user_turn() -> None:
    history = [{"role": "system", "content": "be kind"}, user("one"), user("two")]
    call = chat.read(body(history, stream=True))
    assert (call.model, call.stream, call.query, call.fresh) == ("gpt", True, "two", True)
    assert [turn.place for turn in call.turns] == [1, 2]
    assert [(m.role, m.text) for m in call.recent] == [("system", "be kind"), ("user", "one")]


def test_a_step_of_a_tool_loop_belongs_to_its_user_turn() -> None:
    history = [
        user("weather?"),
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "tool", "tool_call_id": "1", "content": "rain"},
    ]
    call = chat.read(body(history))
    assert (call.query, call.fresh) == ("weather?", False)
    assert call.turns == chat.read(body(history[:1])).turns


def test_text_of_parts_is_read_and_images_are_not() -> None:
    parts = [
        {"type": "text", "text": "what is"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "text", "text": "this?"},
    ]
    assert chat.read(body([user(parts)])).query == "what is\nthis?"


def test_without_a_user_turn_there_is_nothing_to_attach_to() -> None:
    call = chat.read(body([{"role": "system", "content": "x"}]))
    assert (call.query, call.turn) == ("", None)
    assert chat.write(call, {}) == call.body


@pytest.mark.requirement("M23", "G2")
@pytest.mark.parametrize(
    ("content", "grown"),
    [
        ('"Hi \\u00e9 \\"x\\""', f'Hi é "x"\n\n{BLOCK}'),
        ('""', BLOCK),
        ('"狗 😀"', f"狗 😀\n\n{BLOCK}"),
    ],
)
def test_only_the_text_of_the_turn_grows(content: str, grown: str) -> None:
    before = '{ "temperature":0.70, "n": 12345678901234567890,\n"messages" :[ {"content":'
    after = ',"role":"user" } ], "tools":[], "x":null}\n'
    raw = f"{before}{content}{after}".encode()
    written = chat.write(chat.read(raw), {0: BLOCK})
    assert written.startswith(before.encode() + content[:-1].encode())
    assert written.endswith(b'"' + after.encode())
    assert json.loads(written)["messages"][0]["content"] == grown


@pytest.mark.requirement("M23")
@pytest.mark.parametrize("parts", ["[]", '[ {"type":"text","text":"a","cache_control":{}} ]'])
def test_a_list_of_parts_gets_one_more(parts: str) -> None:
    raw = f'{{"messages":[{{"role":"user","content":{parts}}}]}}'.encode()
    written = chat.write(chat.read(raw), {0: BLOCK})
    old, new = json.loads(raw)["messages"][0], json.loads(written)["messages"][0]
    assert new["content"] == [*old["content"], {"type": "text", "text": BLOCK}]
    assert written.startswith(raw[: raw.rindex(b"]}]")])


texts = st.text(max_size=30)
messages = st.lists(
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(["system", "user", "assistant", "tool"]),
            "content": texts
            | st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": texts}), max_size=3),
        },
        optional={"name": texts},
    ),
    min_size=1,
    max_size=6,
)


@pytest.mark.requirement("G2")
@given(messages, texts, st.sampled_from([None, 1]), st.booleans(), st.booleans())
def test_any_body_reads_the_same_but_for_the_turns(
    history: list[dict[str, Any]], block: str, indent: int | None, ascii_only: bool, every: bool
) -> None:
    request = {"model": "m", "messages": history, "seed": 7}
    raw = json.dumps(request, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "replace")
    call = chat.read(raw)
    places = [turn.place for turn in call.turns if every or turn == call.turn]
    written = chat.write(call, dict.fromkeys(places, block))
    expected = json.loads(raw)
    for place in places:
        turn = expected["messages"][place]
        if isinstance(turn["content"], str):
            turn["content"] += f"\n\n{block}" if turn["content"] else block
        else:
            turn["content"].append({"type": "text", "text": block})
    assert json.loads(written) == expected
    if len(places) == 1:
        shared = next((i for i, (a, b) in enumerate(zip(raw, written, strict=False)) if a != b), 0)
        assert written.endswith(raw[shared:])


@pytest.mark.parametrize(
    ("raw", "code", "param"),
    [
        (b"", "invalid_json", None),
        (b"{", "invalid_json", None),
        (b'{"messages": "\xff"}', "invalid_json", None),
        (b"[1]", "invalid_json", None),
        (b"[" * 100_000, "invalid_json", None),
        (b'{"messages":' + b"[" * 100_000, "invalid_json", None),
        (b'{"model": "m"}', "missing_parameter", "messages"),
        (b'{"messages": "hi"}', "invalid_type", "messages"),
        (b'{"messages": [1]}', "invalid_type", "messages[0]"),
        (b'{"messages": [{"role": "user", "content": 3}]}', "invalid_type", "messages[0].content"),
        (b'{"messages": [], "model": 4}', "invalid_type", "model"),
    ],
)
def test_bad_input_gets_one_clear_message(raw: bytes, code: str, param: str | None) -> None:
    with pytest.raises(RejectedError) as caught:
        chat.read(raw)
    error = caught.value
    assert (error.status, error.code, error.param) == (400, code, param)
    assert len(error.message.splitlines()) == 1


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"user": "ana"}, "ana"),
        ({"safety_identifier": "ben"}, "ben"),
        ({"metadata": {"user_id": "cy"}}, "cy"),
        ({"metadata": 3, "user": 4}, None),
    ],
)
def test_the_end_user_of_the_body(fields: dict[str, Any], named: str | None) -> None:
    assert chat.read(body([user("hi")], **fields)).end_user == named
