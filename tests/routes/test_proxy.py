from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from app.errors import StoreError
from app.memory.embed import Encoder
from app.memory.stores.base import PayloadStore
from tests.routes.conftest import Serve
from tests.running import settled
from tests.scripted import ScriptedUpstream, chunked, completion, events, http, stream

CHAT = "/v1/chat/completions"


def body(text: str = "Which park?", **fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text}], **fields}


async def taught(client: httpx.AsyncClient, text: str = "My dog is called Rex.") -> None:
    answer = await client.post(CHAT, json=body(text))
    receipt = await settled(str(client.base_url), answer.headers["x-remora-request-id"])
    assert receipt["outcome"] == "stored"


@pytest.mark.requirement("G1", "M5")
@pytest.mark.parametrize("key", ["Bearer sk-ana", None])
async def test_without_memory_the_very_bytes_pass(
    client: httpx.AsyncClient, upstream: ScriptedUpstream, key: str | None
) -> None:
    raw = (
        b'{ "messages" : [ {"role":"user","content":"Hi \\u00e9"} ],\n "temperature":0.70,'
        b' "n":12345678901234567890, "x":1e0, "y":null, "zz": {"a":[ ]} }'
    )
    headers = {"Authorization": key} if key else {}
    client.headers.pop("authorization")
    answer = await client.post(CHAT, content=raw, headers=headers)
    assert upstream.last.body == raw
    assert answer.status_code == 200
    expected = "none" if key else "skipped:no_identity"
    assert answer.headers["x-memory-status"] == expected


@pytest.mark.requirement("M11", "M23", "G2")
async def test_with_memory_one_turn_grows_and_the_headers_say_so(
    client: httpx.AsyncClient, upstream: ScriptedUpstream
) -> None:
    await taught(client)
    answer = await client.post(CHAT, json=body("What is my dog called?"))
    text = upstream.last.last_user_text
    assert text.startswith("What is my dog called?\n\n<memory>\n")
    assert "- The user's dog is called Rex." in text
    assert answer.headers["x-memory-status"] == "injected"
    assert len(answer.headers["x-memory-ids"].split(",")) == text.count("\n- ")
    assert int(answer.headers["x-memory-tokens"]) > 0
    assert float(answer.headers["x-memory-overhead-ms"]) >= 0
    assert "recall;dur=" in answer.headers["server-timing"]
    assert answer.content == json.dumps(completion()).encode()


@pytest.mark.requirement("G3", "G6", "M7")
async def test_what_is_ours_stays_here_and_the_rest_passes(
    client: httpx.AsyncClient, upstream: ScriptedUpstream
) -> None:
    mine = {"X-Memory": "off", "X-Memory-User": "x", "OpenAI-Organization": "org", "X-A": "1"}
    await client.post(CHAT, json=body(), headers=mine)
    assert upstream.last.header("authorization") == "Bearer sk-ana"
    assert upstream.last.header("openai-organization") == "org"
    assert upstream.last.header("x-a") == "1"
    assert upstream.last.header("x-memory") is None
    assert upstream.last.header("x-memory-user") is None


@pytest.mark.requirement("G4")
async def test_other_paths_pass_untouched(
    client: httpx.AsyncClient, upstream: ScriptedUpstream
) -> None:
    upstream.script = lambda _: http(b"\x00\x01", "201 Created", "Content-Type: audio/mpeg")
    answer = await client.put("/v1/files/a%2Fb?x=%20", content=b"\xff\xfe" * 50_000)
    assert (answer.status_code, answer.content) == (201, b"\x00\x01")
    assert (upstream.last.method, upstream.last.target) == ("PUT", b"/v1/files/a%2Fb?x=%20")
    assert upstream.last.body == b"\xff\xfe" * 50_000
    assert answer.headers["x-memory-status"] == "skipped:path"
    await client.get("/v1/models")
    assert (upstream.last.method, upstream.last.body) == ("GET", b"")
    assert upstream.last.header("transfer-encoding") is None


async def test_a_streamed_upload_of_unknown_length_passes(
    client: httpx.AsyncClient, upstream: ScriptedUpstream
) -> None:
    async def parts() -> AsyncIterator[bytes]:
        for part in (b"one", b"two"):
            yield part

    await client.post("/v1/audio/transcriptions", content=parts())
    assert upstream.last.body == b"onetwo"


@pytest.mark.parametrize("path", ["/v1//chat/completions", "/v1/chat/completions/"])
async def test_a_base_url_with_a_slash_too_many_has_memory_too(
    client: httpx.AsyncClient, upstream: ScriptedUpstream, path: str
) -> None:
    answer = await client.post(path, json=body())
    assert answer.headers["x-memory-status"] == "none"
    assert upstream.last.target == path.encode()


@pytest.mark.requirement("G8")
@pytest.mark.parametrize("status", ["400 Bad", "404 Not Found", "429 Slow", "500 Oops", "529 Over"])
@pytest.mark.fault(40)
async def test_a_providers_error_is_an_answer(
    client: httpx.AsyncClient, upstream: ScriptedUpstream, status: str
) -> None:
    raw = b'{"error": {"message":"no"} }'
    upstream.script = lambda _: http(
        raw, status, "Retry-After: 7", "Set-Cookie: a", "Set-Cookie: b"
    )
    answer = await client.post(CHAT, json=body("My dog is called Rex."))
    assert (str(answer.status_code), answer.content) == (status[:3], raw)
    assert answer.headers["retry-after"] == "7"
    assert answer.headers.get_list("set-cookie") == ["a", "b"]
    assert len(upstream.requests) == 1


@pytest.mark.requirement("M26", "M27")
@pytest.mark.parametrize(
    "script",
    [
        lambda _: http(b"{}", "500 Oops"),
        lambda _: http(json.dumps(completion(finish="content_filter")).encode()),
        lambda _: stream(events("half")[:1]),
        lambda _: stream([b'data: {"error":{"message":"overloaded"}}\n\n', b"data: [DONE]\n\n"]),
    ],
)
async def test_what_did_not_end_properly_teaches_nothing(
    client: httpx.AsyncClient, upstream: ScriptedUpstream, script: Any
) -> None:
    upstream.script = script
    answer = await client.post(CHAT, json=body("My dog is called Rex."))
    receipt = await settled(str(client.base_url), answer.headers["x-remora-request-id"])
    assert receipt["outcome"] == "skipped"
    assert (await client.get("/v1/memory")).json()["total"] == 0


@pytest.mark.requirement("G12", "G13", "M26")
async def test_a_stream_passes_byte_for_byte_and_is_learned_from(
    client: httpx.AsyncClient, upstream: ScriptedUpstream
) -> None:
    parts = [b": keep-alive\r\n\r\n", *events("No", "ted"), b"data:trailing\n\n"]
    upstream.script = lambda _: stream(parts, pause=0.002)
    async with client.stream("POST", CHAT, json=body("My dog is called Rex.", stream=True)) as got:
        received = b"".join([chunk async for chunk in got.aiter_raw()])
    assert received == b"".join(parts)
    assert got.headers["content-type"] == "text/event-stream"
    receipt = await settled(str(client.base_url), got.headers["x-remora-request-id"])
    assert receipt["outcome"] == "stored"


@pytest.mark.requirement("G14", "M26")
@pytest.mark.parametrize("streamed", [True, False])
async def test_a_client_that_leaves_takes_the_upstream_call_along(
    client: httpx.AsyncClient, upstream: ScriptedUpstream, streamed: bool
) -> None:
    upstream.script = lambda _: stream(events("slow") * 100, pause=0.05)
    call = asyncio.create_task(client.post(CHAT, json=body("My dog is Rex.", stream=streamed)))
    while not upstream.requests:
        await asyncio.sleep(0.005)
    await asyncio.sleep(0.08)
    call.cancel()
    async with asyncio.timeout(0.5):
        await upstream.last.closed.wait()
    upstream.script = lambda _: http(json.dumps(completion()).encode())
    assert (await client.post(CHAT, json=body())).status_code == 200
    assert (await client.get("/v1/memory", params={"type": "semantic"})).json()["total"] == 0


@pytest.mark.requirement("G15")
@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(b"only this"),
    ],
)
async def test_a_broken_answer_looks_broken(
    client: httpx.AsyncClient, upstream: ScriptedUpstream, head: bytes
) -> None:
    async def broken(_: object) -> AsyncIterator[bytes]:
        yield head
        await asyncio.sleep(0.05)
        raise ConnectionResetError

    upstream.script = broken
    with pytest.raises(httpx.RemoteProtocolError):
        await client.post(CHAT, json=body())


@pytest.mark.requirement("G11")
async def test_an_upstream_that_is_down_is_told_in_openais_shape(serve: Serve) -> None:
    client = await serve(upstream_url="http://127.0.0.1:1/v1")
    answer = await client.post(CHAT, json=body())
    assert answer.status_code == 502
    assert answer.json()["error"]["code"] == "upstream_unreachable"
    assert answer.headers["x-remora-request-id"].startswith("req_")
    assert "127.0.0.1" not in answer.text


@pytest.mark.parametrize(
    ("raw", "status", "code"),
    [
        (b"{", 400, "invalid_json"),
        (b"[" * 100_000, 400, "invalid_json"),
        (b'"text"', 400, "invalid_json"),
        (b'{"messages": 4}', 400, "invalid_type"),
        (b'{"messages": [], "pad": "' + b"x" * 2_000_000 + b'"}', 413, "request_too_large"),
    ],
)
async def test_bad_input_is_answered_clearly_and_costs_the_upstream_nothing(
    serve: Serve, upstream: ScriptedUpstream, raw: bytes, status: int, code: str
) -> None:
    client = await serve(server={"body_limit_mb": 1})
    answer = await client.post(CHAT, content=raw)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (status, code)
    assert set(error) == {"message", "type", "param", "code"}
    assert upstream.requests == []
    assert (await client.post(CHAT, json=body())).status_code == 200


@pytest.mark.requirement("M12")
async def test_a_store_that_is_down_costs_nobody_the_answer(
    client: httpx.AsyncClient, upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    await taught(client)

    async def down(*_: object, **__: object) -> Any:
        raise StoreError("down")

    monkeypatch.setattr(PayloadStore, "search", down)
    answer = await client.post(CHAT, json=body("What is my dog called?"))
    assert answer.status_code == 200
    assert answer.headers["x-memory-status"] == "skipped:recall_failed"
    assert upstream.last.last_user_text == "What is my dog called?"


@pytest.mark.requirement("M12")
async def test_a_slow_embedder_costs_no_more_than_its_budget(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = await serve(recall={"budget_ms": 30})

    async def slow(*_: object) -> Any:
        await asyncio.sleep(30)

    monkeypatch.setattr(Encoder, "query", slow)
    answer = await client.post(CHAT, json=body("What is my dog called?"))
    assert answer.status_code == 200
    assert answer.headers["x-memory-status"] == "skipped:recall_late"
    assert float(answer.headers["x-memory-overhead-ms"]) < 2_000


@pytest.mark.requirement("M12")
async def test_a_full_spool_costs_nobody_the_answer(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = await serve()

    async def full(*_: object) -> bool:
        raise StoreError("the spool failed (OperationalError)")

    monkeypatch.setattr("app.spool.queue.SqliteSpool.put", full)
    assert (await client.post(CHAT, json=body("My dog is called Rex."))).status_code == 200


async def test_with_memory_off_it_is_a_plain_proxy(
    serve: Serve, upstream: ScriptedUpstream
) -> None:
    client = await serve(memory=False)
    raw = b"not even JSON"
    answer = await client.post(CHAT, content=raw)
    assert (answer.status_code, upstream.last.body) == (200, raw)
    assert answer.headers["x-memory-status"] == "skipped:off"
    assert (await client.get("/v1/memory")).json()["error"]["code"] == "memory_off"
    assert (await client.get("/readyz")).status_code == 200
