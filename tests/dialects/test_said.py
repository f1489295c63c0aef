from __future__ import annotations

import json

import pytest

from app.dialects.said import Key, choices, crude, piece, replaced, silent


def test_the_texts_of_every_choice_are_found_where_they_stand() -> None:
    text = (
        '{"choices": [ {"delta":{"role":"assistant","content":"a\\u00e9"},"index":1},'
        ' {"index": 0, "delta": {"content":[{"type":"text","text":"b"},{"type":"image"}, 7],'
        ' "reasoning_content": "c", "tool_calls": []}, "finish_reason":"stop"}, {"index":2}]}'
    )
    first, second, third = choices(text, "delta")
    assert [(c.number, c.over) for c in (first, second, third)] == [
        (1, False),
        (0, True),
        (2, False),
    ]
    assert [(spot.key, spot.text) for spot in (*first.spots, *second.spots)] == [
        (Key(1, "content", None), "aé"),
        (Key(0, "content", 0), "b"),
        (Key(0, "reasoning_content", None), "c"),
    ]
    spots = [*first.spots, *second.spots]
    new = replaced(text, spots, ["ö", "b", '"c"'])
    assert new == text.replace('"a\\u00e9"', '"\\u00f6"').replace('"c"', '"\\"c\\""')


def test_what_is_untouched_keeps_its_bytes() -> None:
    text = '{ "x":1e0,"choices":[{"message":{"content":"狗"}}], "n":0.70 }'
    (choice,) = choices(text, "message")
    assert replaced(text, choice.spots, ["狗"]) == text
    assert replaced(text, choice.spots, ["狗!"]) == text.replace('狗"', '狗!"')


@pytest.mark.parametrize(
    "text", ["", "[]", '{"choices":[]} {}', '{"choices":[1]}', '{"choices":[{]}', "[" * 9999]
)
def test_other_json_is_an_error_of_two_kinds(text: str) -> None:
    with pytest.raises((ValueError, RecursionError)):
        choices(text, "delta")


def test_choices_that_are_none_are_none() -> None:
    for text in ("{}", '{"choices":null}', '{"choices":[]}', '{"error":{"message":"x"}}'):
        assert choices(text, "delta") == []


def test_a_piece_is_an_event_with_one_text() -> None:
    text = '{"id":"c","created":%s,"usage":{"x":1},"choices":[{"index":0}]}' % ("9" * 5000)
    made = json.loads(piece(text, Key(3, "content", None), "<"))
    assert made["id"] == "c"
    assert "usage" not in made
    assert made["choices"] == [{"index": 3, "delta": {"content": "<"}, "finish_reason": None}]
    (choice,) = json.loads(piece(text, Key(0, "content", 0), "<"))["choices"]
    assert choice["delta"] == {"content": [{"type": "text", "text": "<"}]}


@pytest.mark.parametrize(
    ("choice", "says_nothing"),
    [
        ('{"index":0,"delta":{"content":""},"finish_reason":null}', True),
        ('{"index":0,"delta":{"content":"","role":"assistant"}}', False),
        ('{"index":0,"delta":{"content":""},"finish_reason":"stop"}', False),
        ('{"index":0,"delta":{"content":"","tool_calls":[{}]}}', False),
        ('{"index":0,"delta":null}', False),
    ],
)
def test_an_event_with_nothing_left_says_nothing(choice: str, says_nothing: bool) -> None:
    assert silent(f'{{"choices":[{choice}]}}') is says_nothing
    assert not silent(f'{{"usage":{{"total_tokens":1}},"choices":[{choice}]}}')


def test_what_cannot_be_read_loses_its_markers_all_the_same() -> None:
    marker = rb"<remora-fact>{\"q\": \"y\"}</remora-fact>"
    raw = b'{"a": "x%sz", "b": "\\u003cremora-ask\\u003e", oops'
    assert crude(raw % marker) == b'{"a": "xz", "b": "", oops'
    assert crude(b"data: [DONE]") == b"data: [DONE]"
