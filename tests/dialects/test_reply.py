from __future__ import annotations

import gzip
import json
import zlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.dialects.reply import MAX_COLLECTED, ChatReader
from app.domain import Answer
from tests.scripted import completion, events

SSE = "text/event-stream; charset=utf-8"
JSON = "application/json"


def read(raw: bytes, kind: str = SSE, encoding: str = "", cuts: tuple[int, ...] = ()) -> Answer:
    reader = ChatReader(kind, encoding)
    edges = [0, *sorted(cut % (len(raw) + 1) for cut in cuts), len(raw)]
    for start, end in pairwise(edges):
        reader.feed(raw[start:end])
    return reader.finish()


STREAM = b": keep-alive\r\n\r\n" + b"".join(events("Hé", "llo 狗")).replace(b"\n", b"\r\n")


@pytest.mark.requirement("G12")
@given(st.lists(st.integers(0, 2000), max_size=8))
def test_any_split_reads_the_same(cuts: list[int]) -> None:
    assert read(STREAM, cuts=tuple(cuts)) == Answer("Héllo 狗", complete=True, finish="stop")


@given(st.binary(max_size=300), st.sampled_from([SSE, JSON, ""]), st.sampled_from(["", "gzip"]))
def test_the_reader_never_raises(raw: bytes, kind: str, encoding: str) -> None:
    read(raw, kind, encoding, cuts=(7, 50))


def test_done_is_told_with_the_chunk_that_ends_the_stream() -> None:
    reader = ChatReader(SSE)
    *first, last = events("a")
    assert [reader.feed(part) for part in first] == [False, False]
    assert reader.feed(last[:9]) is False
    assert reader.feed(last[9:]) is True


def test_done_inside_a_text_is_no_end() -> None:
    reader = ChatReader(SSE)
    assert reader.feed(b'data: {"choices":[{"delta":{"content":"data: [DONE]') is False


@pytest.mark.requirement("M26")
@pytest.mark.parametrize(
    "raw",
    [
        b"".join(events("half"))[:-60],  # neither a finish reason nor [DONE]
        b'data: {"choices":[{"delta":{"content":"x"}}]}\n\n',
        b'data: {"error":{"message":"overloaded"}}\n\ndata: [DONE]\n\n',
        b'data: {"choices":[{"delta":{},"finish_reason":"content_filter"}]}\n\ndata: [DONE]\n\n',
        b'data: {"choices":[{"delta":{"refusal":"no"},"finish_reason":"stop"}]}\n\n',
    ],
)
def test_what_did_not_end_properly_is_not_complete(raw: bytes) -> None:
    assert read(raw).complete is False


def test_a_stream_without_done_is_complete_by_its_finish_reason() -> None:
    raw = b"".join(events("all")[:-1])
    assert read(raw) == Answer("all", complete=True, finish="stop")


def test_only_the_first_of_several_choices_is_read() -> None:
    raw = b'data: {"choices":[{"index":1,"delta":{"content":"b"}}]}\n\n' + b"".join(events("a"))
    assert read(raw).text == "a"


@pytest.mark.parametrize("finish", ["stop", "length", "tool_calls"])
def test_a_whole_answer(finish: str) -> None:
    raw = json.dumps(completion("Hello", finish)).encode()
    assert read(raw, JSON) == Answer("Hello", complete=True, finish=finish)


@pytest.mark.requirement("M26")
@pytest.mark.parametrize(
    "raw",
    [b"", b"<html>", b'{"error":{"message":"no"}}', b"[]", b'{"choices":[]}', b'{"choices":"x"}'],
)
def test_what_is_no_answer_teaches_nothing(raw: bytes) -> None:
    assert read(raw, JSON) == Answer()


@pytest.mark.requirement("G9")
@pytest.mark.parametrize(
    ("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)]
)
def test_compressed_answers_are_read(encoding: str, pack: type[bytes]) -> None:
    raw = json.dumps(completion("Hello")).encode()
    assert read(pack(raw), JSON, encoding).text == "Hello"


def test_an_encoding_that_we_cannot_read_is_still_an_answer() -> None:
    assert read(b"\x00", JSON, "zstd") == Answer(complete=True)


def test_a_huge_answer_is_not_kept() -> None:
    reader = ChatReader(SSE)
    reader.feed(b"data: " + b"x" * MAX_COLLECTED)
    reader.feed(b"\n\ndata: [DONE]\n\n")
    assert reader.finish() == Answer(complete=True)
    assert sum(map(len, reader._chunks)) <= MAX_COLLECTED
