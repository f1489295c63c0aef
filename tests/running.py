"""A Remora that runs in this process; demo/stage.py starts one as a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import uvicorn

from app.cli import listen, uvicorn_config
from app.main import create_app
from app.settings import Settings

PATIENCE = 20.0


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[str]:
    """Serve in this event loop; the base URL without /v1."""
    listener = listen(settings.model_copy(update={"port": 0}))
    async with create_app(settings) as app:
        server = uvicorn.Server(uvicorn_config(app, settings))
        server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign,assignment]
        task = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started:
            await asyncio.sleep(0.005)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task
    listener.close()


async def settled(url: str, request_id: str, key: str = "sk-ana") -> dict[str, Any]:
    """The receipt of a call, once it is there."""
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as client:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            answer = await client.get(f"{url}/v1/memory/receipts/{request_id}")
            if answer.status_code == httpx.codes.OK:
                receipt: dict[str, Any] = answer.json()
                return receipt
            await asyncio.sleep(0.02)
    raise AssertionError(f"no receipt for {request_id}")
