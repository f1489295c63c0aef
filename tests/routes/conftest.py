"""A scripted upstream and a Remora in front of it, in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest
from prometheus_client import REGISTRY

from tests.conftest import MakeSettings
from tests.running import running
from tests.scripted import ScriptedUpstream, scripted_upstream

Serve = Callable[..., Any]
OUTCOMES = ("asked", "hit", "missed", "malformed", "escalated")


@pytest.fixture
async def upstream() -> AsyncIterator[ScriptedUpstream]:
    async with scripted_upstream() as scripted:
        yield scripted


@pytest.fixture
async def serve(
    upstream: ScriptedUpstream, make_settings: MakeSettings
) -> AsyncIterator[Callable[..., Any]]:
    """Starts a Remora with these settings; gives a client of it that is Ana's."""
    async with AsyncExitStack() as stack:

        async def begin(**fields: Any) -> httpx.AsyncClient:
            usual = {} if "upstreams" in fields else {"upstream_url": upstream.url}
            settings = make_settings(**(usual | fields))
            url = await stack.enter_async_context(running(settings))
            client = httpx.AsyncClient(base_url=url, headers={"Authorization": "Bearer sk-ana"})
            return await stack.enter_async_context(client)

        yield begin


@pytest.fixture
async def client(serve: Serve) -> httpx.AsyncClient:
    found: httpx.AsyncClient = await serve()
    return found


@pytest.fixture
def counted() -> Any:
    """What the inline extractor counted since."""

    def now() -> dict[str, float]:
        name = "remora_inline_total"
        return {o: REGISTRY.get_sample_value(name, {"outcome": o}) or 0.0 for o in OUTCOMES}

    before = now()
    return lambda: {o: n - before[o] for o, n in now().items() if n != before[o]}
