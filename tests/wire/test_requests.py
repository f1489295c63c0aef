"""What reaches the upstream, byte for byte (G1-G7)."""

from __future__ import annotations

import asyncio
import gzip
import json

import pytest
from pydantic import SecretStr

from tests.scripted import ScriptedUpstream, http
from tests.wire.conftest import Serve
from tests.wire.raw import CHAT, Head, Wire, wire

KEY = "Authorization: Bearer sk-ana"
ODD = (
    b'{ "model":"m",\t"messages" : [ {"role":"user","content":"Hi \\u00e9 \\ud83d\\ude00"} ],\n'
    b' "temperature":0.70, "n":12345678901234567890, "x":1e0, "y":null,"zz": {"a":[ ],"a":1} }\n'
)


@pytest.mark.requirement("G1")
async def test_a_body_without_memory_is_the_clients_own(
    line: Wire, upstream: ScriptedUpstream
) -> None:
    await line.ask(CHAT, ODD, KEY, "Content-Type: application/json")
    head, _ = await line.answer()
    assert (head.status, upstream.last.body) == (200, ODD)


@pytest.mark.requirement("G1", "G3")
async def test_nothing_is_added_and_only_what_is_hop_by_hop_is_taken(
    line: Wire, upstream: ScriptedUpstream
) -> None:
    sent = [
        KEY,
        "OpenAI-Organization: org",
        "OpenAI-Project: p",
        "OpenAI-Beta: assistants=v2",
        "traceparent: 00-1-2-03",
        "anthropic-beta: a",
        "anthropic-beta: b",
        "X-Stainless-Lang: python",
        "User-Agent: mine/1",
        "Accept-Encoding: br;q=0.5",
        "Cookie: a=b",
        "X-Empty:",
        "X-Latin: caf\u00e9",
    ]
    dropped = [
        "Connection: keep-alive, X-Hop",
        "Keep-Alive: 5",
        "X-Hop: 1",
        "TE: trailers",
        "Proxy-Authorization: Basic x",
        "X-Memory: on",
        "X-Memory-User: eve",
        "X-Remora-Upstream-Hint: x",
    ]
    await line.ask(CHAT, ODD, *sent, *dropped)
    await line.answer()
    kept = [(k.lower(), v) for k, v in upstream.last.headers]
    names = [name for name, _ in kept]
    for header in sent:
        name, _, value = header.partition(":")
        assert (name.lower().encode(), value.strip().encode()) in kept
    assert sorted(names) == sorted(
        [h.partition(":")[0].lower().encode() for h in sent] + [b"host", b"content-length"]
    )


@pytest.mark.requirement("G4")
@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT", "PATCH", "OPTIONS", "POST"])
async def test_every_method_and_path_passes_as_it_was_written(
    line: Wire, upstream: ScriptedUpstream, method: str
) -> None:
    target = "/v1/threads/a%2fb%20c/x?order=asc&after=%7E&flag&a=1&a=2"
    bare = method in {"GET", "HEAD", "DELETE", "OPTIONS"}
    body = b"" if bare else b"\x00\xff binary"
    answer = b"" if method == "HEAD" else b"done"
    upstream.script = lambda _: http(answer)
    await line.ask(f"{method} {target}", body, KEY)
    head = await line.head()
    assert head.status == 200
    assert await line.exactly(len(answer)) == answer
    last = upstream.last
    assert (last.method, last.target, last.body) == (method, target.encode(), body)


@pytest.mark.requirement("G4")
async def test_a_form_is_streamed_before_it_is_whole(
    line: Wire, upstream: ScriptedUpstream
) -> None:
    part = b"--b\r\nContent-Disposition: form-data; name=file; filename=a.wav\r\n\r\n\x00\xff"
    await line.send(
        f"POST /v1/audio/transcriptions HTTP/1.1\nHost: h\n{KEY}\n"
        f"Content-Type: multipart/form-data; boundary=b\nContent-Length: {len(part) + 7}\n\n",
        part,
    )
    async with asyncio.timeout(2):
        while upstream.connections == 0:  # the upstream hears of it while the client still sends
            await asyncio.sleep(0.01)
    assert upstream.requests == []
    await line.send(b"\r\n--b--")
    await line.head()
    assert upstream.last.body == part + b"\r\n--b--"
    assert upstream.last.header("content-length") == str(len(part) + 7)
    assert upstream.last.header("transfer-encoding") is None


@pytest.mark.requirement("G5")
async def test_a_client_that_expects_100_is_told_to_go_on(
    line: Wire, upstream: ScriptedUpstream
) -> None:
    await line.send(
        f"{CHAT} HTTP/1.1\nHost: h\n{KEY}\nExpect: 100-continue\nContent-Length: {len(ODD)}\n\n"
    )
    assert (await line.head()).status == 100
    await line.send(ODD)
    head, _ = await line.answer()
    assert (head.status, upstream.last.body) == (200, ODD)
    assert upstream.last.header("expect") is None


@pytest.mark.requirement("G5")
async def test_a_chunked_body_arrives_whole(line: Wire, upstream: ScriptedUpstream) -> None:
    await line.send(f"{CHAT} HTTP/1.1\nHost: h\n{KEY}\nTransfer-Encoding: chunked\n\n")
    for start in range(0, len(ODD), 7):
        part = ODD[start : start + 7]
        await line.send(b"%x\r\n%s\r\n" % (len(part), part))
    await line.send(b"0\r\n\r\n")
    head, _ = await line.answer()
    assert (head.status, upstream.last.body) == (200, ODD)


@pytest.mark.requirement("G5")
async def test_twenty_megabytes_arrive_whole(line: Wire, upstream: ScriptedUpstream) -> None:
    image = "data:image/png;base64," + "A" * (20 << 20)
    content = [{"type": "image_url", "image_url": {"url": image}}, {"type": "text", "text": "?"}]
    body = json.dumps({"messages": [{"role": "user", "content": content}]}).encode()
    await line.ask(CHAT, body, KEY)
    head, _ = await line.answer()
    assert head.status == 200
    assert upstream.last.body == body


@pytest.mark.requirement("G5")
async def test_a_compressed_body_passes_as_it_is(line: Wire, upstream: ScriptedUpstream) -> None:
    packed = gzip.compress(ODD)
    await line.ask(CHAT, packed, KEY, "Content-Encoding: gzip")
    await line.answer()
    assert upstream.last.body == packed
    assert upstream.last.header("content-encoding") == "gzip"


@pytest.mark.requirement("G5", "G2")
async def test_a_compressed_body_is_unpacked_for_memory_and_learned_from(
    serve: Serve, upstream: ScriptedUpstream
) -> None:
    async with wire(await serve()) as line:
        said = b'{"messages":[{"role":"user","content":"My dog is called Rex."}]}'
        await line.ask(CHAT, gzip.compress(said), KEY, "Content-Encoding: gzip")
        await line.answer()
        async with asyncio.timeout(5):
            head, _ = await asked(line)
            while head.one("x-memory-status") != "injected":
                await asyncio.sleep(0.02)
                head, _ = await asked(line)
    assert upstream.last.header("content-encoding") is None
    assert "called Rex" in upstream.last.last_user_text


async def asked(line: Wire) -> tuple[Head, bytes]:
    question = b'{"messages":[{"role":"user","content":"What is my dog called?"}]}'
    await line.ask(CHAT, gzip.compress(question), KEY, "Content-Encoding: gzip", "X-Memory: read")
    return await line.answer()


@pytest.mark.requirement("G5")
@pytest.mark.parametrize("announced", [True, False])
async def test_a_body_over_the_limit_is_refused_before_it_is_kept(
    serve: Serve, upstream: ScriptedUpstream, announced: bool
) -> None:
    async with wire(await serve(server={"body_limit_mb": 0.5})) as line:
        framing = f"Content-Length: {1 << 20}" if announced else "Transfer-Encoding: chunked"
        await line.send(f"{CHAT} HTTP/1.1\nHost: h\n{KEY}\n{framing}\n\n")
        if not announced:
            await line.send(*[b"%x\r\n%s\r\n" % (1 << 16, b"x" * (1 << 16)) for _ in range(9)])
        head, body = await line.answer()
    assert (head.status, json.loads(body)["error"]["code"]) == (413, "request_too_large")
    assert upstream.requests == []


@pytest.mark.requirement("G5")
async def test_an_upload_that_stops_is_not_waited_for(
    serve: Serve, upstream: ScriptedUpstream
) -> None:
    async with wire(await serve(server={"body_idle_seconds": 0.2})) as line:
        await line.send(f"{CHAT} HTTP/1.1\nHost: h\n{KEY}\nContent-Length: 100\n\n", b'{"mess')
        head, body = await line.answer()
    assert (head.status, json.loads(body)["error"]["code"]) == (408, "request_timeout")
    assert upstream.requests == []


@pytest.mark.requirement("G6", "M7")
@pytest.mark.parametrize("header", ["Authorization: Bearer ", "api-key: ", "x-api-key: "])
async def test_a_paid_key_replaces_whatever_the_client_sent(
    serve: Serve, upstream: ScriptedUpstream, header: str, capfd: pytest.CaptureFixture[str]
) -> None:
    url = await serve(upstreams=[{"url": upstream.url, "key": SecretStr("sk-paid")}])
    async with wire(url) as line:
        await line.ask(CHAT, ODD, f"{header}sk-client-secret")
        await line.answer()
    credentials = [
        (name.lower(), value)
        for name, value in upstream.last.headers
        if name.lower() in {b"authorization", b"api-key", b"x-api-key"}
    ]
    assert credentials == [(b"authorization", b"Bearer sk-paid")]
    printed = "".join(capfd.readouterr())
    assert "sk-client-secret" not in printed
    assert "sk-paid" not in printed


@pytest.mark.requirement("G7")
async def test_the_list_of_models_is_the_upstreams_own(
    line: Wire, upstream: ScriptedUpstream
) -> None:
    raw = b'{"object": "list", "data" : [ {"id":"m", "owned_by": "x" } ] }'
    upstream.script = lambda _: http(raw)
    await line.ask("GET /v1/models", b"", KEY)
    assert (await line.answer())[1] == raw


@pytest.mark.requirement("M12", "G1")
@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"m","messages":[{"role":"user","content":"My cat is \\ud800 Tom."}]}',
        b'{"model":"m\\ud800","messages":[{"role":"user","content":"My cat is Tom."}]}',
        b'{"messages":[{"role":"user","content":"hi"},{"role":[],"content":"x"}]}',
        b'{"messages":[{"role":"user","content":"hi","x":'
        + b'{"a":' * 500
        + b"1"
        + b"}" * 500
        + b"}]}",
    ],
)
async def test_odd_bodies_get_their_whole_answer(line: Wire, body: bytes) -> None:
    await line.ask(CHAT, body, "Content-Type: application/json", "Authorization: Bearer sk-ana")
    head, answer = await line.answer()
    assert (head.status, json.loads(answer)["object"]) == (200, "chat.completion")
