from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from app.settings import IdentitySettings, KeySettings, RecallSettings, UpstreamSettings


@pytest.mark.parametrize(
    ("section", "fields"),
    [
        (KeySettings, {"sha256": "short"}),
        (KeySettings, {"user": ""}),
        (KeySettings, {"user": "x" * 257}),
        (RecallSettings, {"max_tokens": 5}),
        (RecallSettings, {"threshold": 2}),
        (IdentitySettings, {"order": ["magic"]}),
        (IdentitySettings, {"trusted_networks": ["somewhere"]}),
        (UpstreamSettings, {"url": "http://a", "unknown": 1}),
    ],
)
def test_what_makes_no_sense_is_refused(section: type, fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        section(**fields)


def test_an_upstream_knows_whether_the_operator_pays() -> None:
    assert UpstreamSettings(url="http://a").has_key is False
    assert UpstreamSettings(url="http://a", key_env="X").has_key is True
    assert UpstreamSettings(url="http://a", key_file=Path("/k")).has_key is True
