from __future__ import annotations

import asyncio

import httpx
import pytest

from app.upstream import keep_fresh


@pytest.mark.requirement("M6")
async def test_a_document_is_fetched_until_it_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.upstream.refresh.RETRY_SECONDS", 0.0)
    answers: list[Exception | bytes] = [httpx.ConnectError("down"), b"not a key set", b"good"]
    taken: list[bytes] = []
    ready = asyncio.Event()

    def answer(request: httpx.Request) -> httpx.Response:
        assert str(request.url) == "https://id.example/jwks.json"
        found = answers.pop(0)
        if isinstance(found, Exception):
            raise found
        return httpx.Response(200, content=found)

    def take(document: bytes) -> None:
        if document != b"good":
            raise ValueError("no key set")
        taken.append(document)
        ready.set()

    transport = httpx.MockTransport(answer)
    task = asyncio.create_task(keep_fresh(transport, "https://id.example/jwks.json", take))
    async with asyncio.timeout(5):
        await ready.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (taken, answers) == ([b"good"], [])
