"""A scripted upstream and a Remora in front of it, in this process, with memory and without."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any, Protocol

import pytest

from tests.conftest import MakeSettings
from tests.running import running
from tests.scripted import ScriptedUpstream, scripted_upstream
from tests.wire.raw import Wire, wire


class Serve(Protocol):
    """Starts a Remora; its base URL without /v1."""

    async def __call__(self, **fields: Any) -> str: ...


@pytest.fixture
async def upstream() -> AsyncIterator[ScriptedUpstream]:
    async with scripted_upstream() as scripted:
        yield scripted


@pytest.fixture
async def serve(upstream: ScriptedUpstream, make_settings: MakeSettings) -> AsyncIterator[Serve]:
    async with AsyncExitStack() as stack:

        async def begin(**fields: Any) -> str:
            usual = {} if "upstreams" in fields else {"upstream_url": upstream.url}
            settings = make_settings(**(usual | fields))
            return await stack.enter_async_context(running(settings))

        yield begin


@pytest.fixture(params=[True, False], ids=["memory", "plain"])
async def url(request: pytest.FixtureRequest, serve: Serve) -> str:
    return await serve(memory=request.param)


@pytest.fixture
async def line(url: str) -> AsyncIterator[Wire]:
    async with wire(url) as connection:
        yield connection
