"""How long to wait before the next attempt. Pure but for the dice and the clock."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

BASE_SECONDS: Final = 0.25
CAP_SECONDS: Final = 8.0


def pause(attempt: int, headers: Iterable[tuple[bytes, bytes]] = ()) -> float:
    """Seconds before attempt number `attempt` + 1: what the upstream asks for, else full jitter.

    "Full jitter" is a random time up to an exponentially growing bound (M. Brooker, "Exponential
    Backoff And Jitter", AWS 2015). `retry-after-ms` goes before `Retry-After` (RFC 9110, 10.2.3).
    """
    asked = _asked(dict(headers))
    if asked is not None:
        return max(asked, 0.0)
    return random.uniform(0, min(CAP_SECONDS, BASE_SECONDS * 2**attempt))  # noqa: S311 no secret


def _asked(headers: dict[bytes, bytes]) -> float | None:
    milliseconds = headers.get(b"retry-after-ms")
    seconds = headers.get(b"retry-after")
    try:
        if milliseconds is not None:
            return float(milliseconds) / 1000
        return None if seconds is None else _seconds(seconds.decode("latin-1"))
    except ValueError:
        return None


def _seconds(text: str) -> float:
    if text.strip().isdigit():
        return float(text)
    return (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
