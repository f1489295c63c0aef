"""What reaches the client, byte for byte (G8-G11, G23, G25)."""

from __future__ import annotations

import gzip
import json
import socket
import ssl
from typing import Any

import pytest

from tests.running import settled
from tests.scripted import ScriptedUpstream, chunked, completion, http
from tests.wire.conftest import Serve
from tests.wire.raw import CHAT, Wire, wire

KEY = "Authorization: Bearer sk-ana"
BODY = b'{"messages":[{"role":"user","content":"My dog is called Rex."}]}'
OURS = ("x-memory-", "x-remora-", "x-upstream", "server-timing")


@pytest.mark.requirement("G8")
@pytest.mark.parametrize(
    ("status", "headers", "body"),
    [
        ("200 OK", ["Set-Cookie: a=1", "Set-Cookie: b=2", "X-Request-Id: up"], b'{"a": 1.0 }'),
        ("201 Created", ["Content-Type: audio/mpeg"], b"\x00\xff\x00"),
        ("307 Temporary Redirect", ["Location: /v2/x"], b""),
        ("302 Found", ["Location: https://login.example/"], b"moved"),
        ("400 Bad Request", ["X-Should-Retry: false"], b'{"error":{"message":"no" }}'),
        ("401 Unauthorized", ["WWW-Authenticate: Bearer"], b'{"error":{}}'),
        ("429 Too Many", ["Retry-After: 7", "retry-after-ms: 7000"], b'{"error":"slow"}'),
        ("500 Oops", ["Content-Type: text/html"], b"<html>oh no</html>"),
        ("503 Down", ["x-ratelimit-remaining-requests: 0"], b"not json"),
        ("529 Overloaded", ["Retry-After: 3"], b'{"type":"error"}'),
    ],
)
async def test_an_answer_is_passed_not_interpreted(
    line: Wire, upstream: ScriptedUpstream, status: str, headers: list[str], body: bytes
) -> None:
    sent = [*headers, "Date: Mon, 01 Jan 2024 00:00:00 GMT", "Server: theirs"]
    upstream.script = lambda _: http(body, status, *sent)
    await line.ask(CHAT, BODY, KEY)
    head, received = await line.answer()
    assert (head.status, received) == (int(status[:3]), body)
    lines = [bytes(x) for x in head.lines if not x.lower().startswith(tuple(map(_bytes, OURS)))]
    kept = [(k.lower(), v.strip()) for k, _, v in (x.partition(b":") for x in lines)]
    expected = [(k.lower(), v.strip()) for k, _, v in (s.encode().partition(b":") for s in sent)]
    assert [pair for pair in kept if pair in expected] == expected
    assert {k for k, _ in kept} <= {k for k, _ in expected} | {b"content-length", b"content-type"}
    assert len(upstream.requests) == 1


def _bytes(text: str) -> bytes:
    return text.encode()


@pytest.mark.requirement("G8")
@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
async def test_an_answer_without_a_body_has_none(
    line: Wire, upstream: ScriptedUpstream, status: str
) -> None:
    upstream.script = lambda _: f"HTTP/1.1 {status}\r\nETag: x\r\n\r\n".encode()
    await line.ask("GET /v1/files/x", b"", KEY)
    head = await line.head()
    assert (head.status, head.one("etag")) == (int(status[:3]), "x")
    await line.ask("GET /v1/files/y", b"", KEY)  # the connection is in step
    assert (await line.head()).status == int(status[:3])


@pytest.mark.requirement("G8")
async def test_the_length_of_what_head_asked_about_is_kept(
    line: Wire, upstream: ScriptedUpstream
) -> None:
    upstream.script = lambda _: b"HTTP/1.1 200 OK\r\nContent-Length: 123\r\n\r\n"
    await line.ask("HEAD /v1/files/x", b"", KEY)
    assert (await line.head()).one("content-length") == "123"


@pytest.mark.requirement("G9", "M26")
@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "x-odd"])
async def test_a_compressed_answer_stays_as_it_is_and_is_learned_from(
    serve: Serve, upstream: ScriptedUpstream, encoding: str
) -> None:
    url = await serve()
    packed = gzip.compress(json.dumps(completion()).encode())
    upstream.script = lambda _: http(packed, "200 OK", f"Content-Encoding: {encoding}")
    async with wire(url) as line:
        await line.ask(CHAT, BODY, KEY, f"Accept-Encoding: {encoding}")
        head, received = await line.answer()
    assert received == packed
    assert head.one("content-encoding") == encoding
    assert upstream.last.header("accept-encoding") == encoding
    receipt = await settled(url, head.one("x-remora-request-id"))
    assert receipt["outcome"] == "stored"  # what the user said; it ended properly for all we know


@pytest.mark.requirement("G10")
@pytest.mark.parametrize("status", ["429 Slow", "500 Oops", "503 Down", "408 Late", "409 Race"])
async def test_one_request_in_is_one_request_out(
    line: Wire, upstream: ScriptedUpstream, status: str
) -> None:
    upstream.script = lambda _: http(b"{}", status, "Retry-After: 0")
    await line.ask(CHAT, BODY, KEY)
    assert (await line.answer())[0].status == int(status[:3])
    assert len(upstream.requests) == 1


@pytest.mark.requirement("G10")
async def test_retries_where_they_are_wanted_and_the_client_sees_one_answer(
    serve: Serve, upstream: ScriptedUpstream
) -> None:
    answers = iter([http(b"1", "503 Down", "Retry-After: 0"), http(b"2", "429 Slow"), http(b"3")])
    upstream.script = lambda _: next(answers)
    url = await serve(upstreams=[{"url": upstream.url, "retries": 2}])
    async with wire(url) as line:
        await line.ask(CHAT, BODY, KEY)
        head, received = await line.answer()
    assert (head.status, received) == (200, b"3")
    assert len({request.body for request in upstream.requests}) == 1
    assert len(upstream.requests) == 3


@pytest.mark.requirement("G10", "G15")
async def test_an_answer_that_has_begun_is_never_tried_again(
    serve: Serve, upstream: ScriptedUpstream
) -> None:
    async def broken(_: object) -> Any:
        yield b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"
        raise ConnectionResetError

    upstream.script = broken
    async with wire(await serve(upstreams=[{"url": upstream.url, "retries": 5}])) as line:
        await line.ask(CHAT, BODY, KEY)
        assert (await line.head()).status == 200
        assert await line.rest() == b"half"
    assert len(upstream.requests) == 1


@pytest.mark.requirement("G19", "G23")
async def test_a_fallback_gets_the_very_same_call_and_the_answer_says_who_served(
    serve: Serve, upstream: ScriptedUpstream
) -> None:
    answers = iter([http(b"{}", "500 Oops"), http(b"ok")])
    upstream.script = lambda _: next(answers)
    strong = {"name": "strong", "url": upstream.url, "fallback": ["down", "cheap"]}
    down = {"name": "down", "url": "http://127.0.0.1:1/v1", "models": []}
    cheap = {"name": "cheap", "url": upstream.url, "models": []}
    async with wire(await serve(upstreams=[strong, down, cheap])) as line:
        await line.ask(CHAT, BODY, KEY)
        head, received = await line.answer()
    assert (head.status, received, head.one("x-upstream")) == (200, b"ok", "cheap")
    first, second = upstream.requests
    assert (first.body, first.headers) == (second.body, second.headers)


def error_of(body: bytes) -> dict[str, Any]:
    error: dict[str, Any] = json.loads(body)["error"]
    assert set(error) == {"message", "type", "param", "code"}
    return error


@pytest.mark.requirement("G11")
async def test_what_cannot_be_reached_is_told_by_name_and_not_by_address(serve: Serve) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        port = mute.getsockname()[1]
        plain = f"http://127.0.0.1:{port}/v1"
        upstreams: list[dict[str, Any]] = [
            {"name": "down", "url": "http://127.0.0.1:1/v1", "models": ["down"]},
            {"name": "dns", "url": "http://no-such-host.invalid/v1", "models": ["dns"]},
            {"name": "mute", "url": plain, "models": ["mute"], "read_timeout": 0.2},
        ]
        url = await serve(upstreams=[u | {"key": "sk-hidden"} for u in upstreams])
        async with wire(url) as line:
            for name, status, code in (
                ("down", 502, "upstream_unreachable"),
                ("dns", 502, "upstream_unreachable"),
                ("mute", 504, "upstream_timeout"),
            ):
                asked = json.dumps({"model": name, "messages": []}).encode()
                await line.ask(CHAT, asked, KEY)
                head, body = await line.answer()
                error = error_of(body)
                assert (head.status, error["code"], error["type"]) == (status, code, "api_error")
                assert f"'{name}'" in error["message"]
                assert head.one("x-remora-request-id").startswith("req_")
                for hidden in (b"127.0.0.1", b"invalid", b"sk-hidden"):
                    assert hidden not in body


@pytest.mark.requirement("G11")
async def test_a_failed_handshake_is_told(serve: Serve, upstream: ScriptedUpstream) -> None:
    tls = upstream.url.replace("http:", "https:")
    async with wire(await serve(upstreams=[{"url": tls, "key": "k"}])) as line:
        await line.ask(CHAT, BODY, KEY)
        head, body = await line.answer()
    assert head.status == 502
    assert error_of(body)["code"] in {"upstream_tls", "upstream_unreachable"}
    assert ssl.OPENSSL_VERSION not in body.decode()


@pytest.mark.requirement("G11")
@pytest.mark.parametrize("garbage", [b"", b"SSH-2.0-x\r\n", b"HTTP/1.1 200 OK\r\nbroken"])
async def test_an_upstream_that_speaks_no_http_is_told(
    line: Wire, upstream: ScriptedUpstream, garbage: bytes
) -> None:
    async def odd(_: object) -> Any:
        yield garbage
        raise ConnectionResetError

    upstream.script = odd
    await line.ask(CHAT, BODY, KEY)
    head, body = await line.answer()
    assert (head.status, error_of(body)["code"]) == (502, "upstream_broken")


@pytest.mark.requirement("G23", "M11")
async def test_our_headers_say_what_we_added_and_replace_nothing_of_the_upstreams(
    line: Wire, upstream: ScriptedUpstream
) -> None:
    theirs = ["X-Request-Id: up-1", "Server-Timing: gpu;dur=3", "X-Memory-Status: injected"]
    upstream.script = lambda _: http(b"{}", "200 OK", *theirs)
    await line.ask(CHAT, BODY, KEY)
    head, _ = await line.answer()
    assert head.one("x-request-id") == "up-1"
    assert head.one("x-remora-request-id").startswith("req_")
    assert 0 <= float(head.one("x-memory-overhead-ms")) < 10_000
    theirs_first, ours = head.all("server-timing")
    assert theirs_first == "gpu;dur=3"
    assert "identity;dur=" in ours
    assert head.one("x-memory-status") in {"none", "skipped:off"}
    assert head.one("x-upstream") == "default"


@pytest.mark.requirement("G15")
@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(b"only this"),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(b"x") + b"5\r\nab",
    ],
)
async def test_a_broken_answer_looks_broken(
    line: Wire, upstream: ScriptedUpstream, raw: bytes
) -> None:
    async def broken(_: object) -> Any:
        yield raw
        raise ConnectionResetError

    upstream.script = broken
    await line.ask(CHAT, BODY, KEY)
    head = await line.head()
    rest = await line.rest()
    if head.all("content-length"):
        assert len(rest) < int(head.one("content-length"))
    else:
        assert not rest.endswith(b"0\r\n\r\n")
