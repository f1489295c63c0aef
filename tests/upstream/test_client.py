from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import respx

from app.errors import UpstreamError
from app.ports import Outgoing, Reply
from app.upstream import HttpUpstream, Retry, Target
from app.upstream.transport import TlsError

BUSY = frozenset({429, 503})


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.upstream.backoff.BASE_SECONDS", 0.001)


async def nobody(*_: object) -> Any:
    """Opens no WebSocket."""
    raise httpx.ConnectError("nobody")


def outgoing(**fields: Any) -> Outgoing:
    usual: dict[str, Any] = {"path": b"/v1/chat/completions", "query": b"", "headers": ()}
    return Outgoing("POST", **(usual | {"body": b"{}"} | fields))


class Upstreams:
    """Named upstreams, each with a list of answers; the last one stays."""

    def __init__(self, **answers: list[int | Exception]) -> None:
        self.answers = answers
        self.asked: list[str] = []
        self.bodies: list[bytes] = []

    def client(self, *targets: Target) -> HttpUpstream:
        return HttpUpstream(targets, httpx.MockTransport(self._answer), nobody)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        name = request.url.host
        self.asked.append(name)
        self.bodies.append(request.content)
        left = self.answers[name]
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer, content=name.encode())


def target(name: str, **fields: Any) -> Target:
    return Target(name, f"http://{name}/v1", **fields)


async def whole(reply: Reply) -> bytes:
    return b"".join([chunk async for chunk in reply.chunks])


@pytest.mark.requirement("G10")
@pytest.mark.parametrize("failure", [429, 500, 503])
async def test_one_request_in_is_one_request_out(failure: int) -> None:
    world = Upstreams(a=[failure])
    reply = await world.client(target("a")).send(outgoing())
    assert (reply.status, world.asked, await whole(reply)) == (failure, ["a"], b"a")
    broken = Upstreams(a=[httpx.ConnectError("x")])
    with pytest.raises(UpstreamError):
        await broken.client(target("a")).send(outgoing())
    assert broken.asked == ["a"]


@pytest.mark.requirement("G10")
async def test_retries_are_as_many_and_on_what_the_operator_says() -> None:
    retry = Retry(2, BUSY)
    cases: list[tuple[list[int | Exception], int, int]] = [
        ([503, 429, 200], 200, 3),
        ([503, 503, 503, 200], 503, 3),
        ([500, 200], 500, 1),
        ([httpx.ConnectError("x"), 200], 200, 2),
    ]
    for answers, status, times in cases:
        world = Upstreams(a=list(answers))
        reply = await world.client(target("a", retry=retry)).send(outgoing())
        assert (reply.status, len(world.asked)) == (status, times)
    down = Upstreams(a=[httpx.ReadTimeout("x")])
    with pytest.raises(UpstreamError):
        await down.client(target("a", retry=retry)).send(outgoing())
    assert len(down.asked) == 3


@pytest.mark.requirement("G10")
async def test_the_deadline_ends_all_attempts() -> None:
    world = Upstreams(a=[503])
    retry = Retry(10, BUSY, seconds=0.0)
    reply = await world.client(target("a", retry=retry)).send(outgoing())
    assert (reply.status, len(world.asked)) == (503, 1)


async def test_a_body_that_streams_is_sent_once() -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield b"x"

    world = Upstreams(a=[503], b=[200])
    first = target("a", retry=Retry(3, BUSY), fallback=("b",))
    request = outgoing(body=parts())
    reply = await world.client(first, target("b")).send(request)
    assert (reply.status, world.asked) == (503, ["a"])


@pytest.mark.requirement("G19")
async def test_the_fallback_is_asked_with_the_same_bytes() -> None:
    for failure in (503, httpx.ConnectError("x")):
        world = Upstreams(a=[failure], b=[200])
        first = target("a", retry=Retry(1, BUSY), fallback=("b",))
        reply = await world.client(first, target("b", models=())).send(outgoing(body=b'{"x":1}'))
        assert (reply.upstream, reply.status, world.asked) == ("b", 200, ["a", "a", "b"])
        assert set(world.bodies) == {b'{"x":1}'}


@pytest.mark.requirement("G19")
async def test_what_is_no_failure_stays_where_it_is() -> None:
    world = Upstreams(a=[400], b=[200])
    first = target("a", retry=Retry(0, BUSY), fallback=("b",))
    reply = await world.client(first, target("b")).send(outgoing())
    assert (reply.upstream, reply.status) == ("a", 400)


@pytest.mark.requirement("G7")
async def test_everyone_is_asked_and_who_is_down_is_left_out() -> None:
    world = Upstreams(a=[200], b=[httpx.ConnectError("x")], c=[200])
    replies = await world.client(target("a"), target("b"), target("c")).everyone(outgoing())
    assert [reply.upstream for reply in replies] == ["a", "c"]
    down = Upstreams(a=[httpx.ConnectError("x")])
    with pytest.raises(UpstreamError):
        await down.client(target("a")).everyone(outgoing())


@pytest.mark.requirement("G11")
@pytest.mark.parametrize(
    ("failure", "status", "code"),
    [
        (httpx.ConnectError("10.0.0.1"), 502, "upstream_unreachable"),
        (TlsError("10.0.0.1"), 502, "upstream_tls"),
        (httpx.ConnectTimeout("10.0.0.1"), 504, "upstream_timeout"),
        (httpx.ReadTimeout("10.0.0.1"), 504, "upstream_timeout"),
        (httpx.RemoteProtocolError("10.0.0.1"), 502, "upstream_broken"),
    ],
)
async def test_trouble_names_the_upstream_not_its_address(
    failure: httpx.TransportError, status: int, code: str
) -> None:
    router = respx.MockRouter()
    router.route().mock(side_effect=failure)
    main = Target("main", "https://api.example/v1")
    upstream = HttpUpstream([main], httpx.MockTransport(router.async_handler), nobody)
    with pytest.raises(UpstreamError) as caught:
        await upstream.send(outgoing())
    error = caught.value
    assert (error.status, error.code) == (status, code)
    assert "main" in error.message
    assert "10.0.0.1" not in error.message
    assert "example" not in error.message


async def test_waiting_for_a_retry_can_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.upstream.client.pause", lambda *_: 20.0)
    world = Upstreams(a=[503])
    client = world.client(target("a", retry=Retry(3, BUSY, seconds=60)))
    task = asyncio.create_task(client.send(outgoing()))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert world.asked == ["a"]
