from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.dialects.strip import StreamStripper, WholeStripper, stripper
from tests.scripted import events

BODY = '{"statement": "Ö \\" 狗", "quote": "I live in Porto"}'
FACT = f"<remora-fact>{BODY}</remora-fact>"
TEXT = f"Héllo <b> 狗 a < b.\n{FACT}\n<remora-fact>none</remora-fact>\n"
SHOWN = "Héllo <b> 狗 a < b.\n"
DONE = b"data: [DONE]\n\n"


def event(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish} | more.pop("choice", {})
    made = {"id": "c", "object": "chat.completion.chunk", "choices": [choice], **more}
    return b"data: " + json.dumps(made, ensure_ascii=False).encode() + b"\n\n"


def said(*texts: str) -> list[bytes]:
    return [event({"content": text}) for text in texts]


def run(raw: bytes, cuts: tuple[int, ...] = ()) -> tuple[bytes, tuple[str, ...]]:
    reader = StreamStripper()
    edges = [0, *sorted(cut % (len(raw) + 1) for cut in cuts), len(raw)]
    parts = [reader.feed(raw[start:end]) for start, end in pairwise(edges)]
    return b"".join(parts) + reader.finish(), reader.found


def deltas(raw: bytes) -> list[dict[str, Any]]:
    lines = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    found = [json.loads(line[6:]) for line in lines if line.startswith(b"data: {")]
    return [choice for made in found for choice in made["choices"]]


def text_of(raw: bytes, index: int = 0, field: str = "content") -> str:
    mine = [choice["delta"] for choice in deltas(raw) if choice["index"] == index]
    texts = (delta.get(field) for delta in mine)
    return "".join(text for text in texts if isinstance(text, str))


def pieces(text: str, size: int) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]


@pytest.mark.requirement("M28", "G12")
@pytest.mark.parametrize("size", [1, 2, 3, 7, 40, 1000])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("escaped", [True, False])
def test_markers_are_taken_out_of_a_stream(size: int, end: bytes, escaped: bool) -> None:
    parts = events(*pieces(TEXT, size)) if escaped else [*said(*pieces(TEXT, size)), DONE]
    raw = (b": hello\n\n" + b"".join(parts)).replace(b"\n", end)
    whole, found = run(raw)
    assert text_of(whole) == SHOWN
    assert b"remora-" not in whole
    assert found == (BODY, "none")
    assert whole.startswith(b": hello" + end)
    assert whole.endswith(DONE.replace(b"\n", end))


@pytest.mark.requirement("M28", "G12")
def test_every_split_of_the_bytes_gives_the_same_bytes() -> None:
    raw = (b": hello\n\n" + b"".join(events(*pieces(TEXT, 5)))).replace(b"\n", b"\r\n")
    whole = run(raw)
    for cut in range(len(raw)):
        assert run(raw, (cut,)) == whole
    assert run(raw, tuple(range(len(raw)))) == whole


@pytest.mark.requirement("M28", "G12")
@given(
    st.lists(
        st.sampled_from(["<", "</", "remora-fact", ">", "\n", "{1}", "狗", FACT]), max_size=12
    ),
    st.lists(st.integers(0, 5000), max_size=6),
)
def test_a_stream_reads_as_its_whole_text(texts: list[str], cuts: list[int]) -> None:
    raw = b"".join(events(*texts))
    out, found = run(raw, tuple(cuts))
    whole, _ = run(b"".join(events("".join(texts))))
    assert text_of(out) == text_of(whole)
    assert run(raw) == (out, found)


PLAIN = [
    b": keep-alive\r\n\r\n",
    event({"role": "assistant", "content": ""}),
    b'data:{"choices": [{"index":0, "delta":{"content":"a \\u003c b"}, "x":1e0}]}\n\n',
    *said("a", " <", " b", "</", "p", ">\n\n", "<", "remora", "!", "狗"),
    event({"reasoning_content": "<why>"}),
    event({"tool_calls": [{"index": 0, "function": {"arguments": '{"a": "<'}}]}),
    b'event: x\r\nid: 1\r\ndata: {\r\ndata: "choices":[]}\r\n\r\n',
    b"retry: 10\n",
    event({"content": "<", "refusal": None}),
    event({}, "stop"),
    event({}, choice={"index": 1, "delta": {"content": "one <"}, "finish_reason": "length"}),
    b'data: {"choices":[],"usage":{"total_tokens":3}}\n\n',
    b'data: {"error": {"message": "<x>"}}\n\n',
    b"data: <not json>\n\n",
    b"data\n\n",
    DONE,
    b"data:trailing <",
]


@pytest.mark.requirement("M28", "G12")
@given(st.lists(st.integers(0, 5000), max_size=8))
def test_an_answer_without_markers_keeps_its_very_bytes(cuts: list[int]) -> None:
    raw = b"".join(PLAIN)
    assert run(raw, tuple(cuts)) == (raw, ())


@pytest.mark.requirement("M28", "G12")
def test_nothing_waits_but_what_may_be_a_marker() -> None:
    reader = StreamStripper()
    for part in PLAIN[:3]:
        assert reader.feed(part) == part
    (mixed,) = said("Hello <remora")
    assert text_of(reader.feed(mixed)) == "Hello "
    assert reader.feed(b": ping\n\n") == b": ping\n\n"
    other = event({}, choice={"index": 1, "delta": {"content": "one"}})
    assert reader.feed(other) == other
    assert text_of(reader.feed(*said(" is here"))) == "<remora is here"
    (alone,) = said("<")
    assert reader.feed(alone) == b""
    (end,) = said("b>")
    assert reader.feed(end) == alone + end


@pytest.mark.requirement("M28")
def test_an_event_of_marker_text_alone_is_dropped_unless_it_brings_more() -> None:
    first = event({"role": "assistant", "content": "<remora-fact>"})
    last = event({"content": "</remora-fact>"}, "stop", usage={"total_tokens": 9})
    out, found = run(b"".join((first, *said("no", "ne"), last, DONE)))
    one, two = deltas(out)
    assert one["delta"] == {"role": "assistant", "content": ""}
    assert (two["delta"], two["finish_reason"]) == ({"content": ""}, "stop")
    assert b'"usage": {"total_tokens": 9}' in out
    assert found == ("none",)


@pytest.mark.requirement("M28")
@pytest.mark.parametrize("cut", range(1, len(FACT)))
def test_a_marker_cut_short_is_dropped(cut: int) -> None:
    for finish in ("length", None):
        ends = [event({}, finish)] if finish else []
        out, _ = run(b"".join([*said("Hi.", FACT[:cut]), *ends]))
        shown = text_of(out)
        assert shown in {"Hi.", "Hi." + FACT[: min(cut, 6)]}
        assert (shown == "Hi.") is (cut > 6)


@pytest.mark.requirement("M28")
def test_what_waits_is_let_go_where_its_choice_ends() -> None:
    with_end = event({"content": "<"}, "stop")
    assert run(with_end) == (with_end, ())
    (waits,) = said("<")
    over = event({}, "stop")
    reader = StreamStripper()
    assert reader.feed(waits) == b""
    assert reader.feed(over) == waits + over
    # the end of a marker does not wait with what follows it
    out, _ = run(b"".join(said("a<remora-fact>x", "</remora-fact> <", "b")) + DONE)
    assert text_of(out) == "a<b"
    # space in front of one is no part of it
    out, _ = run(b"".join(said("a", "\n\n<", "remora-fact>x</remora-fact>", "b")))
    assert text_of(out) == "a\n\nb"
    # the beginning of one that never came, in an event with something else
    role = event({"role": "assistant", "content": "<remora-"})
    out, _ = run(b"".join((role, over, DONE)))
    assert [choice["delta"] for choice in deltas(out)] == [
        {"role": "assistant", "content": ""},
        {},
    ]


@pytest.mark.requirement("M28")
def test_every_choice_and_thoughts_are_read_by_themselves() -> None:
    def one(index: int, **delta: Any) -> bytes:
        return event({}, choice={"index": index, "delta": delta})

    raw = [
        one(0, reasoning_content="I write <remora-fact>none", content=""),
        one(1, content="b<remora-"),
        one(0, reasoning_content="</remora-fact> then."),
        one(0, content="a<remora-fact>x"),
        one(1, content="fact>y</remora-fact>"),
        one(0, content="</remora-fact>"),
        event({}, choice={"index": 0, "delta": {"content": [{"type": "text", "text": FACT}]}}),
    ]
    out, found = run(b"".join(raw))
    assert (text_of(out), text_of(out, 1)) == ("a", "b")
    assert text_of(out, field="reasoning_content") == "I write then."
    assert b"remora" not in out
    assert found == ("x", BODY)


@pytest.mark.requirement("M28")
def test_several_choices_in_one_event() -> None:
    def two(first: str, second: str) -> bytes:
        made = [{"index": i, "delta": {"content": t}} for i, t in enumerate((first, second))]
        return b"data: " + json.dumps({"choices": made}).encode() + b"\n\n"

    out, found = run(two("a<", "b") + two("remora-fact>x</remora-fact>", "<") + two("", "c") + DONE)
    assert (text_of(out), text_of(out, 1)) == ("a", "b<c")
    assert found == ("x",)


@pytest.mark.requirement("M28")
def test_data_on_several_lines_and_unreadable_data() -> None:
    text = json.dumps({"choices": [{"index": 0, "delta": {"content": f"a{FACT}"}}]}, indent=1)
    lines = b"".join(b"data: " + line.encode() + b"\r\n" for line in text.split("\n"))
    out, found = run(b"id: 7\r\n" + lines + b"\r\n")
    assert found == (BODY,)
    assert out.count(b"data: ") == text.count("\n") + 1
    datas = [line[6:] for line in out.split(b"\r\n") if line.startswith(b"data: ")]
    assert json.loads(b"\n".join(datas))["choices"][0]["delta"]["content"] == "a"
    broken = b'data: {"choices": [{"delta": {"content": "a<remora-fact>b</remora-fact>"}}\n\n'
    assert run(broken)[0] == broken.replace(b"<remora-fact>b</remora-fact>", b"")
    half = b'data: {"choices": [{"delta": {"content": "a<remora-fact>{'
    assert run(half)[0] == half[: half.index(b"<")]


@pytest.mark.requirement("G12")
def test_large_events_cost_no_more_than_their_bytes() -> None:
    large = event({"content": "<x" * 500_000}) + event({"content": "y" * 500_000})
    reader = StreamStripper()
    chunks = [large[i : i + 500] for i in range(0, len(large), 500)]
    assert b"".join(map(reader.feed, chunks)) + reader.finish() == large


@given(st.lists(st.binary(max_size=80)), st.booleans())
def test_no_bytes_make_it_raise(chunks: list[bytes], stream: bool) -> None:
    reader = stripper("", stream=stream)
    out = b"".join(map(reader.feed, chunks)) + reader.finish()
    if b"<" not in out:
        assert out == b"".join(chunks)


@pytest.mark.parametrize("value", ["null", "[]", "{}", "1", '"<"', '[{"text":"<"}]', "[[[]]]"])
@pytest.mark.parametrize(
    "shape",
    [
        '{"choices":%s}',
        '{"choices":[%s]}',
        '{"choices":[{"index":%s,"delta":{"content":"<"}}]}',
        '{"choices":[{"delta":%s,"message":%s}]}',
        '{"choices":[{"delta":{"content":%s},"message":{"content":%s}}]}',
        '{"choices":[{"delta":{"content":"<"},"finish_reason":%s}]}',
    ],
)
def test_odd_shapes_pass(shape: str, value: str) -> None:
    text = shape.replace("%s", value).encode()
    raw = b"data: " + text + b"\n\n"
    assert run(raw) == (raw, ())
    reader = WholeStripper()
    reader.feed(text)
    assert reader.finish() == text


def test_which_one_reads_an_answer() -> None:
    for kind, stream, expected in (
        ("text/event-stream; charset=utf-8", False, StreamStripper),
        ("application/json", True, WholeStripper),
        ("application/json", False, WholeStripper),
        ("", True, StreamStripper),
    ):
        assert isinstance(stripper(kind, stream=stream), expected)
