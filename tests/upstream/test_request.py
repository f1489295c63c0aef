from __future__ import annotations

import httpx
import pytest

from app.dialects.located import renamed
from app.errors import RejectedError
from app.ports import Outgoing
from app.upstream import Target
from app.upstream.request import build

BASE = "https://api.example/v1"


def outgoing(path: bytes = b"/v1/chat/completions", **fields: object) -> Outgoing:
    usual: dict[str, object] = {
        "method": "POST",
        "query": b"",
        "headers": ((b"authorization", b"Bearer sk-client"),),
        "body": b"{}",
    }
    return Outgoing(path=path, **(usual | fields))  # type: ignore[arg-type]


@pytest.mark.requirement("G4", "G18")
@pytest.mark.parametrize(
    ("base", "path", "query", "url"),
    [
        (BASE, b"/v1/models", b"", "https://api.example/v1/models"),
        (BASE + "/", b"/v1/models", b"", "https://api.example/v1/models"),
        ("https://h", b"/v1/models", b"", "https://h/v1/models"),
        ("https://h:8443/o", b"/v1/files/a%2Fb%41", b"", "https://h:8443/o/files/a%2Fb%41"),
        (BASE, b"/v1/x", b"a=%20+1&a=2", "https://api.example/v1/x?a=%20+1&a=2"),
        ("https://h/o?api-version=1", b"/v1/x", b"y=2", "https://h/o/x?api-version=1&y=2"),
    ],
)
def test_paths_join_as_an_sdk_joins_them(base: str, path: bytes, query: bytes, url: str) -> None:
    request = build(Target("t", base), outgoing(path, query=query))
    assert request.url.raw_path == httpx.URL(url).raw_path
    assert str(request.url) == url


@pytest.mark.requirement("G6")
def test_the_clients_key_passes_or_the_upstreams_replaces_it() -> None:
    passed = build(Target("t", BASE), outgoing())
    assert passed.headers["authorization"] == "Bearer sk-client"
    swapped = build(Target("t", BASE, key="paid"), outgoing())
    assert swapped.headers.get_list("authorization") == ["Bearer paid"]


@pytest.mark.requirement("M7", "G6")
def test_a_remora_key_opens_no_upstream_by_itself() -> None:
    with pytest.raises(RejectedError) as caught:
        build(Target("t", BASE), outgoing(consumed=b"authorization"))
    assert (caught.value.status, caught.value.code) == (401, "upstream_key_missing")
    swapped = build(Target("t", BASE, key="paid"), outgoing(consumed=b"authorization"))
    assert swapped.headers.get_list("authorization") == ["Bearer paid"]


@pytest.mark.requirement("G6")
def test_a_remora_key_beside_the_clients_own_lets_that_pass() -> None:
    headers = ((b"authorization", b"Bearer sk-client"), (b"x-remora-key", b"rmk_1"))
    passed = build(Target("t", BASE), outgoing(headers=headers, consumed=b"x-remora-key"))
    assert passed.headers["authorization"] == "Bearer sk-client"
    assert "x-remora-key" not in passed.headers


def test_a_model_server_in_the_house_may_need_no_key() -> None:
    request = build(Target("t", "http://gpu:8000/v1"), outgoing(consumed=b"authorization"))
    assert "authorization" not in request.headers


@pytest.mark.requirement("G6")
def test_a_credential_that_is_configured_as_a_header_replaces_the_clients() -> None:
    azure = Target("t", BASE, headers={"api-key": "paid"})
    for consumed in (None, b"authorization"):
        request = build(azure, outgoing(consumed=consumed))
        assert request.headers["api-key"] == "paid"
        assert "authorization" not in request.headers


@pytest.mark.requirement("G1", "G3")
def test_nothing_is_added_to_a_request() -> None:
    request = build(Target("t", BASE), outgoing(headers=()))
    assert set(request.headers) <= {"host", "content-length"}
    assert request.content == b"{}"


@pytest.mark.requirement("G18")
def test_the_model_gets_the_upstreams_name_and_nothing_else_changes() -> None:
    raw = b'{ "n":0.70, "model" : "fast", "messages":[{"content":"\\u00e9 fast","role":"user"}] }'
    target = Target("t", BASE, rewrite={"fast": "gpt-4.1-mini"})
    request = build(target, outgoing(body=raw, model="fast", rename=renamed))
    assert request.content == raw.replace(b'"model" : "fast"', b'"model" : "gpt-4.1-mini"')
    other = build(target, outgoing(body=raw, model="slow", rename=renamed))
    assert other.content == raw


@pytest.mark.requirement("G18")
def test_configured_headers_and_timeouts_go_along() -> None:
    target = Target("t", BASE, headers={"x-team": "a"}, timeouts={"connect": 1.0, "read": 2.0})
    request = build(target, outgoing())
    assert request.headers["x-team"] == "a"
    assert request.extensions["timeout"] == {"connect": 1.0, "read": 2.0}
