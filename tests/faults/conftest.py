"""Persons in front of one Remora with a scripted upstream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest

from tests.conftest import MakeSettings
from tests.faults.person import Person
from tests.running import running
from tests.scripted import ScriptedUpstream, scripted_upstream

Meet = Callable[..., Awaitable[Person]]


@pytest.fixture
async def upstream() -> AsyncIterator[ScriptedUpstream]:
    async with scripted_upstream() as scripted:
        yield scripted


@pytest.fixture
async def meet(upstream: ScriptedUpstream, make_settings: MakeSettings) -> AsyncIterator[Meet]:
    """`await meet("sk-ana")`: all persons of a test are at the same Remora."""
    started: list[str] = []
    async with AsyncExitStack() as stack:

        async def come(key: str = "sk-ana", **fields: Any) -> Person:
            if not started:
                # Fifty calls at once on a busy machine: who gets what is the question, not when.
                fields.setdefault("recall", {"budget_ms": 30_000})
                settings = make_settings(upstream_url=upstream.url, **fields)
                started.append(await stack.enter_async_context(running(settings)))
            client = httpx.AsyncClient(
                base_url=started[0], headers={"Authorization": f"Bearer {key}"}, timeout=30
            )
            return Person(await stack.enter_async_context(client), upstream)

        yield come


@pytest.fixture
async def ana(meet: Meet) -> Person:
    return await meet()
