"""A running process and the signals it gets (G22)."""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from demo.stage import Remora, remora
from tests.scripted import ScriptedUpstream, events, scripted_upstream, stream

pytestmark = pytest.mark.requirement("G22")

CHAT = "/v1/chat/completions"
ASKED = {"messages": [{"role": "user", "content": "My dog is called Rex."}], "stream": True}


@pytest.fixture
async def upstream() -> AsyncIterator[ScriptedUpstream]:
    async with scripted_upstream() as scripted:
        yield scripted


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


async def started(stack: ExitStack, folder: Path, **variables: str) -> Remora:
    usual = {"REMORA_EMBEDDING": "hash"} | variables
    return await asyncio.to_thread(stack.enter_context, remora(folder / "data", **usual))


async def test_a_running_answer_may_end_and_is_learned_and_nobody_else_gets_in(
    stack: ExitStack, upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    process = await started(stack, tmp_path, REMORA_UPSTREAM_URL=upstream.url)
    upstream.script = lambda _: stream(events(*"slowly"), pause=0.15)
    headers = {"Authorization": "Bearer sk-ana"}
    async with httpx.AsyncClient(base_url=process.url, headers=headers) as client:
        async with client.stream("POST", CHAT, json=ASKED) as answer:
            chunks = answer.aiter_raw()
            received = await anext(chunks)
            stopping = asyncio.create_task(asyncio.to_thread(process.stop, signal.SIGTERM))
            await asyncio.sleep(0.3)
            async with httpx.AsyncClient() as late:
                with pytest.raises(httpx.ConnectError):
                    await late.get(f"{process.url}/healthz")
            async for chunk in chunks:
                received += chunk
        assert received == b"".join(events(*"slowly"))
    assert await stopping == 0
    assert "running answers have 30 s" in process.log
    process.start()
    async with httpx.AsyncClient(base_url=process.url, headers=headers) as client:
        async with asyncio.timeout(10):
            while (await client.get("/v1/memory")).json()["total"] == 0:
                await asyncio.sleep(0.05)


async def test_an_answer_without_end_is_not_waited_for(
    stack: ExitStack, upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    process = await started(
        stack, tmp_path, REMORA_UPSTREAM_URL=upstream.url, REMORA_SERVER__SHUTDOWN_SECONDS="1"
    )
    upstream.script = lambda _: stream(events(*"slowly" * 1000), pause=0.05)
    async with (
        httpx.AsyncClient(base_url=process.url) as client,
        client.stream("POST", CHAT, json=ASKED) as answer,
    ):
        await anext(answer.aiter_raw())
        async with asyncio.timeout(5):
            assert await asyncio.to_thread(process.stop, signal.SIGTERM) == 0
    async with asyncio.timeout(2):
        await upstream.last.closed.wait()


async def test_hangup_reads_the_keys_again_and_keeps_them_where_that_fails(
    stack: ExitStack, upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    file, secret = tmp_path / "settings.toml", tmp_path / "key"
    secret.write_text("sk-first")
    settings = f'[[upstreams]]\nurl = "{upstream.url}"\nkey_file = "{secret}"\n'
    file.write_text(settings)
    process = await started(stack, tmp_path, REMORA_IDENTITY__REQUIRED="true")
    key = hashlib.sha256(b"team-key").hexdigest()

    async def asked() -> tuple[int, str | None]:
        headers = {"Authorization": "Bearer team-key"}
        async with httpx.AsyncClient(base_url=process.url, headers=headers) as client:
            status = (await client.post(CHAT, json=ASKED | {"stream": False})).status_code
            mine = (await client.get("/v1/memory")).json()
        sent = upstream.last.header("authorization") if upstream.requests else None
        return (status, sent) if "total" in mine else (0, None)

    async def hung_up(said: str) -> None:
        before = process.log.count(said)
        os.kill(process.pid, signal.SIGHUP)
        async with asyncio.timeout(5):
            while process.log.count(said) == before:
                await asyncio.sleep(0.02)

    assert await asked() == (200, "Bearer sk-first")
    secret.write_text("sk-second")
    file.write_text(settings + f'[[keys]]\nsha256 = "{key}"\nuser = "ana"\n')
    await hung_up('"reloaded"')
    assert await asked() == (200, "Bearer sk-second")
    file.write_text("[[keys]]\n")
    await hung_up('"not_reloaded"')
    assert await asked() == (200, "Bearer sk-second")
    assert await asyncio.to_thread(process.stop, signal.SIGINT) == 0
