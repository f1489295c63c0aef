"""What a client gets of an answer with markers, and what does not change."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from openai import AsyncOpenAI

from tests.routes.conftest import Serve
from tests.routes.marking import (
    CHAT,
    LEARNED,
    THREE,
    answers,
    body,
    inline,
    rows,
    tell,
    text_of,
)
from tests.running import settled
from tests.scripted import (
    Recorded,
    ScriptedUpstream,
    completion,
    events,
    http,
    stream,
)


@pytest.mark.fault(44)
@pytest.mark.requirement("M28")
@pytest.mark.parametrize("streamed", [False, True])
async def test_three_markers_are_three_facts_and_nobody_sees_them(
    serve: Serve, upstream: ScriptedUpstream, counted: Any, streamed: bool
) -> None:
    upstream.script = answers(f"Nice to meet you <both>!\n{THREE}")
    client = await serve(**inline())
    answer, receipt = await tell(client, stream=streamed)
    assert text_of(answer).rstrip() == "Nice to meet you <both>!"
    assert receipt["outcome"] == "stored"
    found = await rows(client)
    assert {row["content"] for row in found} == LEARNED
    assert {row["created_via"] for row in found} == {"inline"}
    assert {row["content"]: row["quote"] for row in found}["The user lives in Porto."] == (
        "I live in Porto"
    )
    assert {row["slot"] for row in found} >= {"home_city", "pet.dog.name"}
    assert not [row for row in await rows(client, "episodic") if "remora" in row["content"]]
    assert counted() == {"asked": 1.0, "hit": 1.0}


@pytest.mark.requirement("M28")
async def test_official_clients_see_an_ordinary_answer(
    serve: Serve, upstream: ScriptedUpstream
) -> None:
    upstream.script = answers(f"Hi there.{THREE}\n")
    client = await serve(**inline())
    async with AsyncOpenAI(base_url=f"{client.base_url}/v1", api_key="sk-ana") as sdk:
        messages: Any = body()["messages"]
        whole = await sdk.chat.completions.create(model="m", messages=messages)
        assert whole.choices[0].message.content == "Hi there."
        async with sdk.chat.completions.stream(model="m", messages=messages) as events_:
            seen = [event async for event in events_]
            final = await events_.get_final_completion()
    assert final.choices[0].message.content == "Hi there."
    assert final.choices[0].finish_reason == "stop"
    assert not [event for event in seen if "remora" in repr(event)]


@pytest.mark.requirement("M28")
async def test_text_goes_out_while_what_may_be_a_marker_waits(
    serve: Serve, upstream: ScriptedUpstream
) -> None:
    enough = asyncio.Event()

    async def slow(parts: list[bytes]) -> AsyncIterator[bytes]:
        async for part in stream(parts[:1]):
            if part != b"0\r\n\r\n":
                yield part
        await enough.wait()
        async for part in stream(parts[1:]):
            if not part.startswith(b"HTTP"):
                yield part

    upstream.script = lambda _: slow(events("Hello <rem", "ora-fact>none</remora-fact>"))
    client = await serve(**inline())
    async with client.stream("POST", CHAT, json=body(stream=True)) as answer:
        raw = answer.aiter_raw()
        async with asyncio.timeout(5):
            first = await anext(raw)
        assert b'"Hello "' in first
        enough.set()
        rest = b"".join([part async for part in raw])
    assert b"rem" not in first + rest
    assert rest.endswith(b"data: [DONE]\n\n")


@pytest.mark.requirement("M28", "G9")
@pytest.mark.parametrize("streamed", [False, True])
async def test_answers_are_asked_for_without_compression_and_unpacked_if_they_come_with_it(
    serve: Serve, upstream: ScriptedUpstream, streamed: bool
) -> None:
    text = f"Hi.\n{THREE}"
    plain = b"".join(events(text)) if streamed else json.dumps(completion(text)).encode()
    kind = f"Content-Type: {'text/event-stream' if streamed else 'application/json'}"
    packed = http(gzip.compress(plain), "200 OK", kind, "Content-Encoding: gzip", 'ETag: "x"')
    upstream.script = lambda _: packed
    client = await serve(**inline())
    answer, receipt = await tell(client, stream=streamed)
    assert upstream.last.header("accept-encoding") == "identity"
    assert "content-encoding" not in answer.headers
    assert "etag" not in answer.headers
    assert text_of(answer).rstrip() == "Hi."
    assert receipt["outcome"] == "stored"
    assert {row["content"] for row in await rows(client)} == LEARNED


async def test_broken_compression_is_a_broken_upstream(
    serve: Serve, upstream: ScriptedUpstream
) -> None:
    upstream.script = lambda _: http(b"\x1f\x8bno", "200 OK", "Content-Encoding: gzip")
    client = await serve(**inline())
    answer = await client.post(CHAT, json=body())
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_broken")


@pytest.mark.requirement("M28", "G8", "G9")
@pytest.mark.parametrize(
    ("status", "encoding"), [("400 Bad", "identity"), ("500 Oops", ""), ("200 OK", "br")]
)
async def test_errors_and_what_cannot_be_read_pass(
    serve: Serve, upstream: ScriptedUpstream, status: str, encoding: str
) -> None:
    raw = b'{"error": {"message": "<remora-fact>"}}'
    upstream.script = lambda _: http(raw, status, f"Content-Encoding: {encoding}")
    client = await serve(**inline())
    async with client.stream("POST", CHAT, json=body()) as answer:
        assert b"".join([part async for part in answer.aiter_raw()]) == raw


@pytest.mark.requirement("M28", "G15")
async def test_a_stream_that_breaks_off_stays_broken(
    serve: Serve, upstream: ScriptedUpstream
) -> None:
    async def broken() -> AsyncIterator[bytes]:
        async for part in stream(events("Hi <rem")[:1]):
            if part != b"0\r\n\r\n":
                yield part

    upstream.script = lambda request: _closing(request, broken())
    client = await serve(**inline())
    got: list[bytes] = []

    async def read(answer: httpx.Response) -> None:
        async for part in answer.aiter_raw():
            got.append(part)  # noqa: PERF401 what came before it breaks off is kept

    async with client.stream("POST", CHAT, json=body(stream=True)) as answer:
        with pytest.raises(httpx.RemoteProtocolError):
            await read(answer)
    assert b"rem" not in b"".join(got)
    receipt = await settled(str(client.base_url), answer.headers["x-remora-request-id"])
    assert receipt["outcome"] == "skipped"


async def _closing(request: Recorded, parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """An upstream that hangs up behind its last byte."""
    async for part in parts:
        yield part
    request.closed.set()
