from __future__ import annotations

import json

import pytest

from app.dialects.strip import WholeStripper
from tests.dialects.test_strip import BODY, FACT, SHOWN, TEXT
from tests.scripted import completion


@pytest.mark.requirement("M28")
def test_a_whole_answer_changes_in_its_text_alone() -> None:
    made = completion(TEXT) | {"x": 1}
    second = {"index": 1, "message": {"content": [{"type": "text", "text": f"b {FACT}"}]}}
    made["choices"].append(second)
    raw = json.dumps(made, ensure_ascii=False, indent=2).encode()
    for escaped in (raw, raw.replace(b"<", b"\\u003c").replace(b">", b"\\u003E")):
        reader = WholeStripper()
        assert reader.feed(escaped[:50]) + reader.feed(escaped[50:]) == b""
        out = reader.finish()
        shown = [choice["message"]["content"] for choice in json.loads(out)["choices"]]
        assert shown == [SHOWN.rstrip(), [{"type": "text", "text": "b"}]]
        assert reader.found == (BODY, "none")
        start, end = escaped.index(b'"H'), escaped.index(b'"finish_reason"')
        assert out.startswith(escaped[:start])
        assert out[out.index(b'"finish_reason"') :].split(b'"b ')[0][:40] == escaped[end:][:40]


@pytest.mark.requirement("M28")
def test_whole_answers_without_markers_keep_their_bytes() -> None:
    for raw in (b'{ "choices":[{"message":{"content":"a < b\\n"}}] }', b"\xff<", b"", b"<html>"):
        reader = WholeStripper()
        reader.feed(raw)
        assert reader.finish() == raw
