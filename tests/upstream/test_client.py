from __future__ import annotations

from pathlib import Path

import httpx
import pytest
import respx
from pydantic import SecretStr

from app.errors import ConfigurationError, RejectedError, UpstreamError
from app.ports import Outgoing, Reply
from app.settings import UpstreamSettings
from app.upstream import HttpUpstream, Target, targets
from app.upstream.transport import TlsError

BASE = "https://api.example/v1"


def outgoing(path: bytes = b"/v1/chat/completions", **fields: object) -> Outgoing:
    usual: dict[str, object] = {
        "method": "POST",
        "query": b"",
        "headers": ((b"authorization", b"Bearer sk-client"),),
        "body": b"{}",
    }
    return Outgoing(path=path, **(usual | fields))  # type: ignore[arg-type]


async def sent(target: Target, request: Outgoing) -> httpx.Request:
    router = respx.MockRouter()
    router.route().respond(200, content=b"ok")
    upstream = HttpUpstream([target], httpx.MockTransport(router.async_handler))
    reply = await upstream.send(request)
    assert await whole(reply) == b"ok"
    recorded: httpx.Request = router.calls.last.request
    return recorded


async def whole(reply: Reply) -> bytes:
    return b"".join([chunk async for chunk in reply.chunks])


@pytest.mark.requirement("G4", "G18")
@pytest.mark.parametrize(
    ("base", "path", "query", "url"),
    [
        (BASE, b"/v1/models", b"", "https://api.example/v1/models"),
        (BASE + "/", b"/v1/models", b"", "https://api.example/v1/models"),
        ("https://h", b"/v1/models", b"", "https://h/v1/models"),
        (
            "https://h:8443/openai",
            b"/v1/files/a%2Fb%41",
            b"",
            "https://h:8443/openai/files/a%2Fb%41",
        ),
        (BASE, b"/v1/x", b"a=%20+1&a=2", "https://api.example/v1/x?a=%20+1&a=2"),
        ("https://h/o?api-version=1", b"/v1/x", b"y=2", "https://h/o/x?api-version=1&y=2"),
    ],
)
async def test_paths_join_as_an_sdk_joins_them(
    base: str, path: bytes, query: bytes, url: str
) -> None:
    request = await sent(Target("t", base), outgoing(path, query=query))
    assert request.url.raw_path == httpx.URL(url).raw_path
    assert str(request.url) == url


@pytest.mark.requirement("G6")
async def test_the_clients_key_passes_or_the_upstreams_replaces_it() -> None:
    passed = await sent(Target("t", BASE), outgoing())
    assert passed.headers["authorization"] == "Bearer sk-client"
    swapped = await sent(Target("t", BASE, key="paid"), outgoing())
    assert swapped.headers.get_list("authorization") == ["Bearer paid"]


@pytest.mark.requirement("M7")
async def test_a_remora_key_opens_no_upstream_by_itself() -> None:
    with pytest.raises(RejectedError) as caught:
        await sent(Target("t", BASE), outgoing(consumed=b"authorization"))
    assert (caught.value.status, caught.value.code) == (401, "upstream_key_missing")


async def test_nothing_is_added_to_a_request() -> None:
    request = await sent(Target("t", BASE), outgoing(headers=()))
    assert set(request.headers) <= {"host", "content-length"}


@pytest.mark.requirement("G18")
async def test_a_model_goes_to_the_first_upstream_that_serves_it() -> None:
    router = respx.MockRouter()
    router.route(host="a").respond(200)
    router.route(host="b").respond(201)
    chosen = [
        Target("a", "http://a", models=("gpt-*",)),
        Target("b", "http://b", models=("llama*",)),
    ]
    upstream = HttpUpstream(chosen, httpx.MockTransport(router.async_handler))
    first = await upstream.send(outgoing(model="gpt-4.1"))
    second = await upstream.send(outgoing(model="llama3"))
    assert (first.upstream, second.upstream) == ("a", "b")
    with pytest.raises(RejectedError) as caught:
        await upstream.send(outgoing(model="claude"))
    assert (caught.value.status, caught.value.code) == (404, "model_not_found")


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
    upstream = HttpUpstream([Target("main", BASE)], httpx.MockTransport(router.async_handler))
    with pytest.raises(UpstreamError) as caught:
        await upstream.send(outgoing())
    error = caught.value
    assert (error.status, error.code) == (status, code)
    assert "main" in error.message
    assert "10.0.0.1" not in error.message
    assert "example" not in error.message


def test_keys_come_from_where_they_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROVIDER_KEY", "from-env")
    (tmp_path / "key").write_text("from-file\n")
    found = targets(
        [
            UpstreamSettings(url=BASE, key=SecretStr("direct")),
            UpstreamSettings(url=BASE, key_env="PROVIDER_KEY"),
            UpstreamSettings(url=BASE, key_file=tmp_path / "key"),
            UpstreamSettings(url=BASE),
        ]
    )
    assert [target.key for target in found] == ["direct", "from-env", "from-file", None]
    assert "direct" not in repr(found)


@pytest.mark.parametrize(
    "wrong",
    [
        UpstreamSettings(url="api.example"),
        UpstreamSettings(url="ftp://h/v1"),
        UpstreamSettings(url=BASE, key_env="NOT_SET"),
        UpstreamSettings(url=BASE, key_file=Path("/nowhere")),
    ],
)
def test_what_cannot_work_is_said_at_the_start(wrong: UpstreamSettings) -> None:
    with pytest.raises(ConfigurationError) as caught:
        targets([wrong])
    assert len(caught.value.faults) == 1
