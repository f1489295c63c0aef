from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from app.checks import check
from app.errors import ConfigurationError
from app.identity import KEYS, KeyRing, new_key
from app.settings import (
    IdentitySettings,
    JwtSettings,
    LearningSettings,
    LlmSettings,
    PolicySettings,
    Principal,
    RecallSettings,
    RewriteSettings,
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


def faults(**fields: Any) -> tuple[str, ...]:
    with pytest.raises(ConfigurationError) as caught:
        check(Settings(**fields))
    return caught.value.faults


HTTPS = UpstreamSettings(name="far", url="https://api.example/v1")
LOCAL = UpstreamSettings(name="near", url="http://127.0.0.1:11434/v1", models=("llama*",))


def learns(**fields: Any) -> LearningSettings:
    return LearningSettings(extractor="llm", llm=LlmSettings(**fields))


@pytest.mark.requirement("G22", "M28")
def test_the_llm_extractor_needs_a_model_and_an_upstream_that_is_there() -> None:
    (fault,) = faults(learning=learns(), upstreams=(LOCAL,))
    assert "learning.llm.model" in fault
    (fault,) = faults(learning=learns(model="llama3", upstream="gone"), upstreams=(LOCAL,))
    assert "no upstream 'gone'" in fault
    (fault,) = faults(learning=learns(model="gpt-4.1"), upstreams=(LOCAL,))
    assert "no upstream serves 'gpt-4.1'" in fault
    by_policy = (PolicySettings(extractor="llm"),)
    (fault,) = faults(policies=by_policy, upstreams=(LOCAL,))
    assert "learning.llm.model" in fault
    (fault,) = faults(learning=learns(model="m"), upstreams=(UpstreamSettings(url="ftp://x"),))
    assert "http(s)" in fault
    check(Settings(learning=learns(model="llama3"), upstreams=(LOCAL,)))
    check(Settings(learning=LearningSettings(llm=LlmSettings(upstream="gone"))))


@pytest.mark.requirement("G22", "M28")
def test_the_llm_extractor_needs_an_upstream_that_lets_it_in() -> None:
    both = (HTTPS, LOCAL)
    (fault,) = faults(learning=learns(model="gpt-4.1"), upstreams=both)
    assert "'far' has no key of its own" in fault
    check(Settings(learning=learns(model="llama3", upstream="near"), upstreams=both))
    for opened in ({"key": SecretStr("sk-paid")}, {"headers": {"Api-Key": SecretStr("paid")}}):
        paid = HTTPS.model_copy(update=opened)
        check(Settings(learning=learns(model="gpt-4.1"), upstreams=(paid,)))


@pytest.mark.requirement("G22")
def test_a_model_that_rewrites_needs_an_upstream_that_lets_it_in() -> None:
    def rewrites(**fields: Any) -> RecallSettings:
        return RecallSettings(rewrite=RewriteSettings(**fields))

    (fault,) = faults(recall=rewrites(model="gpt-4.1"), upstreams=(LOCAL,))
    assert "recall.rewrite: no upstream serves 'gpt-4.1'" in fault
    (fault,) = faults(recall=rewrites(model="m", upstream="gone"), upstreams=(LOCAL,))
    assert "recall.rewrite: there is no upstream 'gone'" in fault
    (fault,) = faults(recall=rewrites(model="gpt-4.1"), upstreams=(HTTPS,))
    assert "recall.rewrite: upstream 'far' has no key of its own" in fault
    check(Settings(recall=rewrites(model="llama3"), upstreams=(LOCAL, HTTPS)))
    check(Settings(recall=rewrites(upstream="gone")))  # off
