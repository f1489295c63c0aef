from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from app.errors import ConfigurationError, RejectedError
from app.settings import UpstreamSettings
from app.upstream import Target, targets
from app.upstream.targets import Routes

BASE = "https://api.example/v1"


def test_keys_come_from_where_they_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROVIDER_KEY", "from-env")
    (tmp_path / "key").write_text("from-file\n")
    found = targets(
        [
            UpstreamSettings(name="a", url=BASE, key=SecretStr("direct")),
            UpstreamSettings(name="b", url=BASE, key_env="PROVIDER_KEY"),
            UpstreamSettings(name="c", url=BASE, key_file=tmp_path / "key"),
            UpstreamSettings(name="d", url=BASE),
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


@pytest.mark.requirement("G18")
def test_a_model_goes_to_the_first_upstream_that_serves_it() -> None:
    routes = Routes(
        [
            Target("a", BASE, models=("gpt-*", "o?")),
            Target("b", BASE, models=("llama*",), fallback=("a",)),
        ]
    )
    assert [t.name for t in routes.chain("gpt-4.1", None)] == ["a"]
    assert [t.name for t in routes.chain("llama3", None)] == ["b", "a"]
    assert [t.name for t in routes.chain("", None)] == ["a"]
    with pytest.raises(RejectedError) as caught:
        routes.chain("claude", None)
    assert (caught.value.status, caught.value.code) == (404, "model_not_found")


@pytest.mark.requirement("G20")
def test_a_client_may_choose_only_what_may_be_chosen_and_never_an_address() -> None:
    routes = Routes([Target("a", BASE), Target("b", BASE, models=(), selectable=True)])
    assert routes.chain("gpt", "b")[0].name == "b"
    for wanted in ("a", "", "http://169.254.169.254/v1", "b#", "B"):
        with pytest.raises(RejectedError) as caught:
            routes.chain("gpt", wanted)
        assert (caught.value.status, caught.value.code) == (400, "unknown_upstream")


def test_a_call_of_our_own_may_name_any_upstream_but_none_that_is_not_there() -> None:
    routes = Routes([Target("a", BASE), Target("b", BASE, models=(), fallback=("a",))])
    assert [t.name for t in routes.chain("gpt", "b", ours=True)] == ["b", "a"]
    with pytest.raises(RejectedError):
        routes.chain("gpt", "c", ours=True)


@pytest.mark.requirement("G22")
def test_every_fault_of_the_upstreams_is_named() -> None:
    with pytest.raises(ConfigurationError) as caught:
        targets(
            [
                UpstreamSettings(name="a", url="nowhere"),
                UpstreamSettings(name="a", url=BASE, fallback=("a", "c")),
            ]
        )
    assert len(caught.value.faults) == 4
