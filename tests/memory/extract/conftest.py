"""A Remora whose llm extractor asks a scripted model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest

from app.settings import LearningSettings, LlmSettings
from tests.conftest import MakeSettings
from tests.memory.extract.learner import MODEL, Ana, Counted, Learner, Start, count
from tests.running import running
from tests.scripted import ScriptedUpstream, scripted_upstream


@pytest.fixture
async def upstream() -> AsyncIterator[ScriptedUpstream]:
    async with scripted_upstream() as scripted:
        yield scripted


@pytest.fixture
async def start(upstream: ScriptedUpstream, make_settings: MakeSettings) -> AsyncIterator[Start]:
    async with AsyncExitStack() as stack:

        async def begin(script: Learner, llm: dict[str, Any] | None = None, **fields: Any) -> Ana:
            upstream.script = script
            settings = LlmSettings(model=MODEL, **(llm or {}))
            learning = LearningSettings(extractor="llm", llm=settings)
            usual = {} if "upstreams" in fields else {"upstream_url": upstream.url}
            made = make_settings(learning=learning, **(usual | fields))
            url = await stack.enter_async_context(running(made))
            key = {"Authorization": "Bearer sk-ana"}
            client = httpx.AsyncClient(base_url=url, headers=key)
            return Ana(await stack.enter_async_context(client), url)

        yield begin


@pytest.fixture
def counted() -> Counted:
    outcomes = ("ok", "malformed", "refused", "failed", "unreachable", "late")
    before = {outcome: count(outcome) for outcome in outcomes}
    return lambda: {o: count(o) - n for o, n in before.items() if count(o) != n}
