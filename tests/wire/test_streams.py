"""Streams: passed as they come, let go of at once, broken where they broke (G12-G16)."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import socket
from collections.abc import AsyncIterator, Callable
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.dialects.reply import ChatReader
from tests.running import settled
from tests.scripted import ScriptedUpstream, chunked, completion, events, http, stream
from tests.wire.conftest import Serve
from tests.wire.raw import CHAT, Wire, wire

KEY = "Authorization: Bearer sk-ana"
BODY = b'{"stream":true,"messages":[{"role":"user","content":"My dog is called Rex."}]}'
SSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def event(**fields: Any) -> bytes:
    return b"data: " + json.dumps(fields, ensure_ascii=False).encode() + b"\n\n"


ODD = {
    "comments and keep-alives": [b": ping\n\n", b":\r\n\r\n", *events("a")],
    "line ends of every kind": [b"data: {}\r\n\r\n", b"data: {}\r\r", b"data: [DONE]\r\n\r\n"],
    "no space behind the colon": [b"data:{}\n\n", b"data:[DONE]\n\n"],
    "other fields": [b"event: x\nid: 7\nretry: 10\ndata: {}\n\n", b"data: [DONE]\n\n"],
    "no end": events("a", "b")[:-1],
    "usage without choices": [event(choices=[], usage={"total_tokens": 3}), b"data: [DONE]\n\n"],
    "parallel tools": [
        event(choices=[{"index": 0, "delta": {"tool_calls": [{"index": i, "id": f"t{i}"}]}}])
        for i in (0, 1)
    ],
    "several choices": [event(choices=[{"index": 1, "delta": {"content": "b"}, "logprobs": {}}])],
    "reasoning and refusal": [
        event(choices=[{"delta": {"reasoning_content": "hm", "refusal": "no"}, "x": None}])
    ],
    "an error within": [event(error={"message": "overloaded"}), b"data: [DONE]\n\n"],
    "a megabyte": [event(choices=[{"delta": {"content": "狗" * 350_000}}])],
    "not even text": [b"\xff\xfe\x00\n\n"],
    "nothing": [],
}


@pytest.mark.requirement("G12")
@pytest.mark.parametrize("parts", ODD.values(), ids=ODD.keys())
async def test_any_stream_passes_byte_for_byte(
    line: Wire, upstream: ScriptedUpstream, parts: list[bytes]
) -> None:
    upstream.script = lambda _: stream(parts)
    await line.ask(CHAT, BODY, KEY)
    assert (await line.head()).one("content-type") == "text/event-stream"
    assert b"".join([chunk async for chunk in line.chunks()]) == b"".join(parts)


@pytest.mark.requirement("G12")
@pytest.mark.parametrize("size", [1, 2, 3, 7])
async def test_events_may_be_split_anywhere(
    line: Wire, upstream: ScriptedUpstream, size: int
) -> None:
    whole = b"".join(events("né", "狗😀"))
    parts = [whole[i : i + size] for i in range(0, len(whole), size)]
    upstream.script = lambda _: stream(parts, pause=0.001)
    await line.ask(CHAT, BODY, KEY)
    await line.head()
    assert b"".join([chunk async for chunk in line.chunks()]) == whole


@pytest.mark.requirement("G12", "M26")
@given(st.lists(st.text(min_size=1), min_size=1, max_size=5), st.data())
@settings(max_examples=200)
def test_any_split_of_a_stream_reads_the_same(texts: list[str], data: st.DataObject) -> None:
    whole = b"".join(events(*texts))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(whole) - 1), max_size=12)))
    reader = ChatReader("text/event-stream; charset=utf-8")
    for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        reader.feed(whole[start:end])
    answer = reader.finish()
    assert (answer.text, answer.complete) == ("".join(texts), True)


@pytest.mark.requirement("G12")
@given(st.lists(st.binary(), max_size=5), st.sampled_from(["text/event-stream", "x", ""]))
def test_the_reader_never_raises(chunks: list[bytes], kind: str) -> None:
    reader = ChatReader(kind)
    for chunk in chunks:
        reader.feed(chunk)
    reader.finish()


@pytest.mark.requirement("G12", "M26")
async def test_a_stream_that_nobody_asked_for_is_a_stream(
    serve: Serve, upstream: ScriptedUpstream
) -> None:
    url = await serve()
    upstream.script = lambda _: stream(events("No", "ted"))
    async with wire(url) as line:
        await line.ask(CHAT, BODY.replace(b"true", b"false"), KEY)
        head = await line.head()
        assert b"".join([c async for c in line.chunks()]) == b"".join(events("No", "ted"))
    receipt = await settled(url, head.one("x-remora-request-id"))
    assert receipt["outcome"] == "stored"


class Gate:
    """An answer whose parts go out when the test says so."""

    def __init__(self, *parts: bytes) -> None:
        self.steps = [asyncio.Event() for _ in parts]
        self.parts = parts

    async def __call__(self, _: object) -> AsyncIterator[bytes]:
        for step, part in zip(self.steps, self.parts, strict=True):
            await step.wait()
            yield part


@pytest.mark.requirement("G13")
async def test_the_head_and_each_chunk_go_out_when_they_come(
    line: Wire, upstream: ScriptedUpstream
) -> None:
    first, second = b": ping\n\n", b"data: [DONE]\n\n"
    gate = Gate(SSE, chunked(first), chunked(second) + b"0\r\n\r\n")
    upstream.script = gate.__call__
    await line.ask(CHAT, BODY, KEY)
    gate.steps[0].set()
    assert (await line.head()).status == 200  # before any chunk is there
    chunks = line.chunks()
    gate.steps[1].set()
    assert await anext(chunks) == first  # before the next one is there
    gate.steps[2].set()
    assert await anext(chunks) == second


@pytest.mark.requirement("G13")
async def test_a_read_timeout_is_of_a_gap_and_not_of_the_answer(
    serve: Serve, upstream: ScriptedUpstream
) -> None:
    url = await serve(upstreams=[{"url": upstream.url, "read_timeout": 0.3}])
    upstream.script = lambda _: stream(events(*"slowly and long"), pause=0.06)
    async with wire(url) as line:
        await line.ask(CHAT, BODY, KEY)
        await line.head()
        began = perf_counter()
        assert len([c async for c in line.chunks()]) > 10
        assert perf_counter() - began > 0.6
        upstream.script = lambda _: stream(events("gap"), pause=1.0)
        await line.ask(CHAT, BODY, KEY)
        await line.head()
        assert not (await line.rest()).endswith(b"0\r\n\r\n")


@pytest.mark.requirement("G13")
async def test_no_hop_waits_for_an_acknowledgement(line: Wire, url: str) -> None:
    await line.ask("GET /v1/models")
    await line.head()
    port = int(url.rpartition(":")[2])
    sockets = [s for s in gc.get_objects() if isinstance(s, socket.socket) and s.fileno() >= 0]
    connected = [s for s in sockets if s.type == socket.SOCK_STREAM and _peer(s)]
    assert any(s.getsockname()[1] == port for s in connected)
    assert all(s.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for s in connected)


def _peer(found: socket.socket) -> bool:
    if found.family != socket.AF_INET:
        return False
    with contextlib.suppress(OSError):
        return bool(found.getpeername())
    return False


async def nothing(_: object) -> AsyncIterator[bytes]:
    """An answer that does not come."""
    await asyncio.sleep(30)
    yield b""


async def only_the_head(_: object) -> AsyncIterator[bytes]:
    """An answer whose first token does not come."""
    yield SSE
    await asyncio.sleep(30)


PHASES: dict[str, tuple[Callable[[Any], Any], bytes, bool]] = {
    "before the head": (nothing, BODY, False),
    "before the first token": (only_the_head, BODY, True),
    "in the middle": (lambda _: stream(events(*"x" * 3000), pause=0.01), BODY, True),
    "of a whole answer": (nothing, BODY.replace(b"true", b"false"), False),
}


async def until_cancelled(
    url: str, upstream: ScriptedUpstream, body: bytes, answered: bool
) -> float:
    """Ask and leave; how long the upstream waits to hear of it."""
    upstream.requests.clear()
    async with wire(url) as line:
        await line.ask(CHAT, body, KEY)
        async with asyncio.timeout(5):
            while not upstream.requests:
                await asyncio.sleep(0.005)
        if answered:
            await line.head()
        await asyncio.sleep(0.05)
        line.abort()
        began = perf_counter()
        async with asyncio.timeout(5):
            await upstream.last.closed.wait()
    return perf_counter() - began


@pytest.mark.requirement("G14", "M26")
@pytest.mark.parametrize("phase", PHASES.values(), ids=PHASES.keys())
async def test_a_client_that_leaves_takes_the_upstream_call_along(
    serve: Serve, upstream: ScriptedUpstream, phase: tuple[Callable[[Any], Any], bytes, bool]
) -> None:
    script, body, answered = phase
    url = await serve()
    upstream.script = script
    seconds = [await until_cancelled(url, upstream, body, answered) for _ in range(3)]
    assert min(seconds) < 0.1  # the machine may stumble once
    used = upstream.connections
    upstream.script = lambda _: http(json.dumps(completion()).encode())
    async with wire(url) as line:
        await line.ask(CHAT, b'{"messages":[]}', KEY)
        assert (await line.answer())[0].status == 200
        await line.ask("GET /v1/memory", b"", KEY)
        assert json.loads((await line.answer())[1])["total"] == 0
    assert upstream.connections == used + 1


@pytest.mark.requirement("G14")
@pytest.mark.fault(40)
async def test_fifty_aborted_streams_leave_nothing_behind(
    line: Wire, url: str, upstream: ScriptedUpstream
) -> None:
    upstream.script = lambda _: stream(events(*"x" * 3000), pause=0.01)
    before = len(asyncio.all_tasks())

    async def aborted() -> None:
        async with wire(url) as other:
            await other.ask(CHAT, BODY, KEY)
            await other.head()
            await anext(other.chunks())
            other.abort()

    await asyncio.gather(*(aborted() for _ in range(50)))
    async with asyncio.timeout(5):
        await asyncio.gather(*(request.closed.wait() for request in upstream.requests))
        while len(asyncio.all_tasks()) > before:
            await asyncio.sleep(0.01)
    upstream.script = lambda _: http(b"ok")
    for _ in range(100):
        await line.ask(CHAT, BODY, KEY)
        assert (await line.answer())[1] == b"ok"


@pytest.mark.requirement("G16")
@pytest.mark.parametrize("streamed", [True, False])
async def test_a_connection_that_was_closed_meanwhile_is_recovered_from(
    line: Wire, upstream: ScriptedUpstream, streamed: bool
) -> None:
    for _ in range(5):
        await line.ask(CHAT, BODY, KEY)
        head = await line.head()
        if head.all("content-length"):
            await line.exactly(int(head.one("content-length")))
        else:
            assert [c async for c in line.chunks()]
        assert head.status == 200
        for task in upstream.tasks:  # what rests in the pool is closed from the other side
            task.cancel()
        await asyncio.gather(*upstream.tasks, return_exceptions=True)
        upstream.tasks.clear()
        if streamed:
            upstream.script = lambda _: http(b"whole")
    assert len(upstream.requests) == 5
