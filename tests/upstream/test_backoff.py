from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from app.upstream.backoff import BASE_SECONDS, CAP_SECONDS, pause


@pytest.mark.requirement("G10")
def test_the_pause_grows_with_the_attempts_and_is_never_the_same() -> None:
    for attempt in range(12):
        bound = min(CAP_SECONDS, BASE_SECONDS * 2**attempt)
        drawn = [pause(attempt) for _ in range(50)]
        assert all(0 <= seconds <= bound for seconds in drawn)
        assert len(set(drawn)) > 1


@pytest.mark.requirement("G10")
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({b"retry-after": b"3"}, 3.0),
        ({b"retry-after-ms": b"250", b"retry-after": b"3"}, 0.25),
        ({b"retry-after": b"Mon, 01 Jan 2024 00:00:00 GMT"}, 0.0),
    ],
)
def test_what_the_upstream_asks_for_goes_first(headers: dict[bytes, bytes], seconds: float) -> None:
    assert pause(0, headers.items()) == seconds


def test_a_date_to_come_is_waited_for() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    assert 15 < pause(0, [(b"retry-after", soon.encode())]) <= 20


@pytest.mark.parametrize("nonsense", [b"soon", b"", b"-"])
def test_nonsense_is_not_obeyed(nonsense: bytes) -> None:
    assert 0 <= pause(0, [(b"retry-after", nonsense)]) <= BASE_SECONDS
