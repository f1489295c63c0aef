"""Documents that are fetched again and again in the background, an identity provider's keys say."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import httpx
import structlog

if TYPE_CHECKING:
    from collections.abc import Callable

_log = structlog.get_logger()
FRESH_SECONDS: Final = 3600.0
RETRY_SECONDS: Final = 15.0
TIMEOUTS: Final = {"connect": 10.0, "read": 10.0}


async def keep_fresh(
    transport: httpx.AsyncBaseTransport, url: str, take: Callable[[bytes], None]
) -> None:
    """Fetch `url` now and every hour and `take` it; what cannot be had or read is tried again."""
    while True:
        request = httpx.Request("GET", url, extensions={"timeout": TIMEOUTS})
        pause = RETRY_SECONDS
        try:
            answer = await transport.handle_async_request(request)
            take(await answer.aread())
            pause = FRESH_SECONDS
        except (httpx.TransportError, ValueError) as error:
            _log.warning("refresh_failed", url=url, reason=type(error).__name__)
        await asyncio.sleep(pause)
