from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from app.checks import check
from app.errors import ConfigurationError
from app.identity import KEYS, KeyRing, new_key
from app.settings import (
    IdentitySettings,
    JwtSettings,
    LearningSettings,
    PolicySettings,
    Principal,
    RecallSettings,
    Settings,
    UpstreamSettings,
)


@pytest.mark.requirement("G22")
def test_names_and_patterns_are_checked_together() -> None:
    settings = Settings(
        recall=RecallSettings(gate="magic", block=("[",)),
        learning=LearningSettings(extractor="magic"),
        policies=(PolicySettings(gate="x"), PolicySettings(extractor="y")),
    )
    with pytest.raises(ConfigurationError) as caught:
        check(settings)
    assert len(caught.value.faults) == 5
    check(Settings())


@pytest.mark.requirement("G22")
def test_every_part_is_looked_at_before_it_is_said(tmp_path: Path) -> None:
    settings = Settings(
        data_dir=tmp_path,
        recall=RecallSettings(gate="magic"),
        identity=IdentitySettings(jwt=JwtSettings(jwks_file=tmp_path / "none")),
        upstreams=(UpstreamSettings(url="ftp://x"),),
    )
    with pytest.raises(ConfigurationError) as caught:
        check(settings)
    assert len(caught.value.faults) == 3


@pytest.mark.requirement("G24")
def test_an_open_relay_is_refused_with_the_line_that_fixes_it(tmp_path: Path) -> None:
    paid = Settings(data_dir=tmp_path, host="::", upstream_key=SecretStr("sk-paid"))
    with pytest.raises(ConfigurationError) as caught:
        check(paid)
    (fault,) = caught.value.faults
    assert "remora keys new --user NAME" in fault
    check(paid.model_copy(update={"host": "127.0.0.1"}))
    check(paid.model_copy(update={"upstream_key": None}))
    check(paid.model_copy(update={"identity": IdentitySettings(required=True)}))
    ring = KeyRing(tmp_path / KEYS)
    ring.add(new_key(Principal(admin=True))[1])
    with pytest.raises(ConfigurationError):
        check(paid)
    ring.add(new_key(Principal(user="ana"))[1])
    check(paid)
