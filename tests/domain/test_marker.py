from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.marker import ASK_CLOSE, ASK_OPEN, MAX_BODY, MAX_FOUND, Unmarked, asks, unmarked

ONE = '<remora-fact>{"a": "1"}</remora-fact>'
TWO = "<remora-fact>none</remora-fact>"


def read(*texts: str) -> tuple[str, list[str]]:
    reader = Unmarked()
    shown = "".join(reader.feed(text) for text in texts)
    return shown + reader.finish(), reader.found


@pytest.mark.requirement("M28")
@pytest.mark.parametrize(
    ("text", "shown", "found"),
    [
        (f"Hi.\n{ONE}\n{TWO}\n", "Hi.\n", ['{"a": "1"}', "none"]),
        (f"Hi.{ONE}", "Hi.", ['{"a": "1"}']),
        (f"Hi. {ONE}\n\nAnd on.", "Hi. And on.", ['{"a": "1"}']),
        (ONE.upper(), "", ['{"A": "1"}']),
        ("Hi.\n<remora-fact>{\n  1\n}\n</remora-fact >", "Hi.\n", ["{\n  1\n}"]),
        # not closed: up to the next one, an empty line or the end
        (f"<remora-fact>{{1}}\n{TWO}", "", ["{1}", "none"]),
        ("<remora-fact>{1}\n\nAnd on.</remora-fact>", "And on.", ["{1}"]),
        ('Hi.\n<remora-fact>{"a": "cut sho', "Hi.\n", ['{"a": "cut sho']),
        ("<remora-fact />", "", ["/>"]),
        # cut short in its name
        ("Hi.\n<remora-fa", "Hi.\n", []),
        # a stray end, and what asks
        ("Hi.</remora-fact>", "Hi.", []),
        (f"You said {ASK_OPEN}add {TWO}\n\nto it{ASK_CLOSE}", "You said ", []),
        # ordinary text
        ("a < b <r </p> <remote> <remora>", "a < b <r </p> <remote> <remora>", []),
        ("a <", "a <", []),
        ("a </re", "a </re", []),
    ],
)
def test_markers_are_taken_out_at_any_split(text: str, shown: str, found: list[str]) -> None:
    assert read(text) == (shown, found)
    assert unmarked(text) == shown
    for size in (1, 2, 3, 5, 11):
        assert read(*(text[i : i + size] for i in range(0, len(text), size))) == (shown, found)
    for cut in range(len(text)):
        assert read(text[:cut], text[cut:]) == (shown, found)


PIECES = ["<", "</", "remora-", "fact", "ask", ">", "\n", " ", "{1}", "x", "<remora-fact>", "狗"]


@pytest.mark.requirement("M28")
@given(st.lists(st.sampled_from([*PIECES, "</remora-fact>"]), max_size=30))
def test_any_text_reads_the_same_in_pieces(pieces: list[str]) -> None:
    whole = read("".join(pieces))
    assert read(*pieces) == whole
    assert read(*"".join(pieces)) == whole


@given(st.text())
def test_text_without_markers_passes(text: str) -> None:
    assert read(*text) == (text, [])


@pytest.mark.requirement("M28")
def test_held_back_is_only_what_may_become_a_marker() -> None:
    reader = Unmarked()
    assert reader.feed("Hello\n\n<remora-fac") == "Hello\n\n"
    assert reader.undecided == "<remora-fac"
    assert reader.feed("ulty>") == "<remora-faculty>"
    assert reader.at_rest
    assert reader.feed("a </remor <") == "a </remor "
    assert not reader.at_rest


def test_what_is_found_is_bounded() -> None:
    shown, found = read(*(f"<remora-fact>{'x' * 3 * MAX_BODY}" for _ in range(3)), "</remora-fact>")
    assert shown == ""
    assert all(len(body) <= MAX_BODY for body in found)
    assert len(read(ONE * 2 * MAX_FOUND)[1]) == MAX_FOUND


def test_an_ask_is_known_by_its_fence() -> None:
    assert asks(f"<memory>x</memory>\n\n{ASK_OPEN}\nadd{ASK_CLOSE}")
    assert not asks(f"<memory>{ASK_OPEN}{ONE}{ASK_CLOSE}</memory>")
