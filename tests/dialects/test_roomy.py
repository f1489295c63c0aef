from __future__ import annotations

import json
from typing import Any

import pytest

from app.dialects.chat import ChatDialect


def roomy(**fields: Any) -> bool:
    request = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], **fields}
    return ChatDialect().read(json.dumps(request).encode()).roomy


@pytest.mark.requirement("M28")
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"response_format": {"type": "text"}, "n": 1, "stop": None, "logprobs": False},
        {"tool_choice": "auto", "tools": [{"type": "function"}], "modalities": ["text"]},
        {"max_tokens": 256, "max_completion_tokens": None, "stream": True},
        {"max_completion_tokens": 10**30},
    ],
)
def test_prose_has_room(fields: dict[str, Any]) -> None:
    assert roomy(**fields)


@pytest.mark.requirement("M28")
@pytest.mark.parametrize(
    "fields",
    [
        {"response_format": {"type": "json_object"}},
        {"response_format": {"type": "json_schema", "json_schema": {}}},
        {"n": 2},
        {"stop": "\n"},
        {"stop": ["END"]},
        {"max_tokens": 255},
        {"max_completion_tokens": 16},
        {"max_tokens": -1},
        {"max_tokens": "many"},
        {"max_tokens": 1e3},
        {"tool_choice": "required"},
        {"tool_choice": {"type": "function", "function": {"name": "f"}}},
        {"function_call": {"name": "f"}},
        {"modalities": ["text", "audio"]},
        {"audio": {"voice": "alloy"}},
        {"logprobs": True},
        {"guided_json": {}},
        {"grammar": "root ::= x"},
    ],
)
def test_what_a_line_more_would_break_has_none(fields: dict[str, Any]) -> None:
    assert not roomy(**fields)
