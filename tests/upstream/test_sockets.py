from __future__ import annotations

import pytest

from app.upstream.sockets import sendable


@pytest.mark.requirement("G17")
@pytest.mark.parametrize(
    ("code", "sent"),
    [(1000, 1000), (4001, 4001), (3000, 3000), (1005, 1000), (1006, 1011), (0, 1011), (9999, 1011)],
)
def test_a_code_that_no_frame_may_carry_becomes_one_that_may(code: int, sent: int) -> None:
    assert sendable(code, 1011) == sent
