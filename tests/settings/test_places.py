from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.settings.places import line_of, lines

TEXT = """\
port = 1  # a comment
recall.limit = 3

[identity]
order = [
  "key_hash",
]
[identity.jwt]
"issuer" = "x"

[[upstreams]]
name = "a"
[[upstreams]]  # the second
name = "b"
headers = { x = "1" }
"""


@pytest.mark.requirement("G22")
@pytest.mark.parametrize(
    ("place", "line"),
    [
        (("port",), 1),
        (("recall", "limit"), 2),
        (("identity", "order", 0), 5),
        (("identity", "jwt", "issuer"), 9),
        (("upstreams", 0, "url"), 11),
        (("upstreams", 1, "name"), 14),
        (("upstreams", 1, "headers", "x"), 15),
        (("host",), None),
    ],
)
def test_a_setting_is_found_or_what_it_stands_in(
    place: tuple[str | int, ...], line: int | None
) -> None:
    assert line_of(lines(TEXT), place) == line


@given(st.text())
def test_any_text_can_be_looked_at(text: str) -> None:
    assert all(1 <= number <= len(text.splitlines()) for number in lines(text).values())
