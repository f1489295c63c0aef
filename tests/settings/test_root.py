from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from app.settings import Settings, UpstreamSettings


def test_settings_are_frozen() -> None:
    settings = Settings()
    with pytest.raises(ValidationError):
        settings.port = 1  # type: ignore[misc]
    with pytest.raises(ValidationError):
        settings.recall.limit = 1  # type: ignore[misc]


def test_one_upstream_by_default_and_it_is_openais() -> None:
    (only,) = Settings().all_upstreams
    assert (only.url, only.has_key) == ("https://api.openai.com/v1", False)


def test_configured_upstreams_replace_the_default_one() -> None:
    listed = (
        UpstreamSettings(name="a", url="http://a"),
        UpstreamSettings(name="b", url="http://b"),
    )
    assert Settings(upstreams=listed).all_upstreams == listed


@pytest.mark.requirement("G22")
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"upstreams": [{"url": "http://a"}], "upstream_key": "x"}, "upstream_key would be"),
        ({"store": "qdrant"}, "needs qdrant_url"),
        ({"store": "edge", "qdrant_url": "http://q"}, "qdrant_url would be ignored"),
        ({"identity": {"trusted_header": "X-User"}}, "needs identity.trusted_networks"),
        ({"keys": [{"user": "ana"}]}, "sha256 or prefix"),
    ],
)
def test_what_would_be_ignored_is_a_fault(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Settings(**fields)


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("UPSTREAM_KEY", "PORT", "RECALL__LIMIT"):
        monkeypatch.setenv(f"REMORA_{name}", "")
    settings = Settings()
    assert (settings.upstream_key, settings.port, settings.recall.limit) == (None, 8080, 12)
