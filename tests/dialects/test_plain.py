from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.dialects.plain import JsonDialect

plain = JsonDialect()


def test_it_knows_the_model_and_nothing_else() -> None:
    body = b'{"model":"embed-3","input":"My dog is called Rex."}'
    call = plain.read(body)
    assert (call.model, call.query, call.fresh, call.body) == ("embed-3", "", False, body)


@pytest.mark.parametrize("body", [b"", b"[1]", b"{", b'{"model":7}', b"\xff", b"[" * 100_000])
def test_what_names_no_model_is_left_for_the_upstream(body: bytes) -> None:
    call = plain.read(body)
    assert (call.model, call.body) == ("", body)


@given(st.binary())
def test_the_reader_never_raises(body: bytes) -> None:
    assert plain.read(body).body == body


def test_only_the_name_changes() -> None:
    assert plain.rename(b'{ "n":1.0, "model" : "a\\u00e9", "x":[] }', "b") == (
        b'{ "n":1.0, "model" : "b", "x":[] }'
    )


def test_nothing_can_be_attached() -> None:
    with pytest.raises(ValueError, match="no user turn"):
        plain.write(plain.read(b"{}"), {0: "block"})


def test_its_answers_are_not_learned_from_but_can_be_read() -> None:
    assert plain.reader("application/json").feed(b"{}") is False
