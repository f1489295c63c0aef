from __future__ import annotations

import pytest

from app.upstream.headers import (
    forwarded,
    has_credential,
    returned,
    with_extra,
    without_credentials,
)

CLIENT = (
    (b"host", b"remora:8080"),
    (b"authorization", b"Bearer sk-client"),
    (b"content-type", b"application/json"),
    (b"content-length", b"10"),
    (b"connection", b"keep-alive, X-Private"),
    (b"x-private", b"1"),
    (b"te", b"trailers"),
    (b"expect", b"100-continue"),
    (b"x-memory", b"off"),
    (b"x-memory-user", b"ana"),
    (b"x-remora-key", b"rmk_1"),
    (b"openai-organization", b"org"),
    (b"x-stainless-lang", b"python"),
    (b"traceparent", b"00-1"),
    (b"x-unknown", b"a"),
    (b"x-unknown", b"b"),
)


@pytest.mark.requirement("G3")
def test_end_to_end_headers_pass_and_the_rest_does_not() -> None:
    assert forwarded(CLIENT) == (
        (b"authorization", b"Bearer sk-client"),
        (b"content-type", b"application/json"),
        (b"openai-organization", b"org"),
        (b"x-stainless-lang", b"python"),
        (b"traceparent", b"00-1"),
        (b"x-unknown", b"a"),
        (b"x-unknown", b"b"),
    )


@pytest.mark.requirement("M7", "G6")
def test_a_credential_that_was_for_us_never_leaves() -> None:
    names = [name for name, _ in forwarded(CLIENT, b"authorization")]
    assert b"authorization" not in names
    assert b"x-remora-key" not in names


@pytest.mark.requirement("G8")
def test_duplicates_come_back_and_hop_by_hop_does_not() -> None:
    answer = (
        (b"Set-Cookie", b"a"),
        (b"Set-Cookie", b"b"),
        (b"Transfer-Encoding", b"chunked"),
        (b"Connection", b"X-Hop"),
        (b"X-Hop", b"1"),
        (b"Date", b"now"),
        (b"Retry-After", b"3"),
    )
    assert returned(answer) == (
        (b"set-cookie", b"a"),
        (b"set-cookie", b"b"),
        (b"date", b"now"),
        (b"retry-after", b"3"),
    )


@pytest.mark.requirement("G6")
@pytest.mark.parametrize("header", [b"authorization", b"api-key", b"x-api-key"])
def test_a_credential_of_any_kind_is_known(header: bytes) -> None:
    headers = ((header, b"client"), (b"accept", b"*/*"))
    assert has_credential(headers)
    assert without_credentials(headers) == ((b"accept", b"*/*"),)
    assert not has_credential(without_credentials(headers))


def test_configured_headers_replace_their_like() -> None:
    headers = ((b"x-a", b"1"), (b"accept", b"*/*"))
    assert with_extra(headers, {}) is headers
    assert with_extra(headers, {"x-a": "2"}) == ((b"accept", b"*/*"), (b"x-a", b"2"))
