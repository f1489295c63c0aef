from __future__ import annotations

import gzip
import zlib

import pytest

from app.dialects import encoding
from app.dialects.encoding import decoded

BODY = b'{"model":"m"}' * 100


@pytest.mark.parametrize("name", ["gzip", "GZIP", " x-gzip "])
def test_gzip_is_read(name: str) -> None:
    assert decoded(gzip.compress(BODY), name) == BODY


def test_deflate_is_read() -> None:
    assert decoded(zlib.compress(BODY), "deflate") == BODY


@pytest.mark.parametrize("name", ["", "identity", "Identity"])
def test_what_is_not_compressed_is_the_same_object(name: str) -> None:
    assert decoded(BODY, name) is BODY


@pytest.mark.parametrize("name", ["br", "zstd", "gzip, gzip"])
def test_what_is_unknown_cannot_be_told(name: str) -> None:
    assert decoded(BODY, name) is None


@pytest.mark.parametrize("body", [b"", b"no gzip", gzip.compress(BODY)[:-9]])
def test_what_is_broken_cannot_be_told(body: bytes) -> None:
    assert decoded(body, "gzip") is None


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "MAX_DECODED", 1000)
    assert decoded(gzip.compress(b"a" * 1001), "gzip") is None
    assert decoded(gzip.compress(b"a" * 1000), "gzip") == b"a" * 1000
