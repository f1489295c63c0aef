from __future__ import annotations

import pytest
from pydantic import SecretStr, ValidationError

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
    settings = Settings(upstreams=listed, upstream_key=SecretStr("x"))
    assert settings.all_upstreams == listed
