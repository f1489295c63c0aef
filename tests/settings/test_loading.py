from __future__ import annotations

from pathlib import Path

import pytest

from app.errors import ConfigurationError
from app.settings import load


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(text: str) -> Path:
    path = Path("settings.toml")
    path.write_text(text)
    return path


def faults(file: Path | None = None) -> tuple[str, ...]:
    with pytest.raises(ConfigurationError) as caught:
        load(file)
    return caught.value.faults


def test_the_environment_alone_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "UPSTREAM_URL": "http://127.0.0.1:9/v1",
        "UPSTREAM_KEY": "sk-x",
        "DATA_DIR": "/var/lib/remora",
        "HOST": "0.0.0.0",  # noqa: S104 what a container says
        "PORT": "9090",
        "MEMORY": "off",
        "EMBEDDING": "hash",
        "ADMIN_KEY": "boss",
        "RECALL__LIMIT": "3",
    }.items():
        monkeypatch.setenv(f"REMORA_{name}", value)
    settings = load()
    assert settings.all_upstreams[0].url == "http://127.0.0.1:9/v1"
    assert settings.all_upstreams[0].secret_key() == "sk-x"
    assert (settings.data_dir, settings.port) == (Path("/var/lib/remora"), 9090)
    assert (settings.memory, settings.embedding, settings.recall.limit) == (False, "hash", 3)
    assert "sk-x" not in repr(settings)
    assert "boss" not in repr(settings)


def test_the_file_beats_defaults_and_the_environment_beats_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write("port = 1\n[recall]\nlimit = 5\nmax_tokens = 100\n")
    monkeypatch.setenv("REMORA_PORT", "2")
    monkeypatch.setenv("REMORA_RECALL__LIMIT", "6")
    settings = load()
    assert (settings.port, settings.recall.limit, settings.recall.max_tokens) == (2, 6, 100)
    assert load(port=3).port == 3


def test_a_file_can_be_named() -> None:
    assert load(write("port = 7\n").rename("other.toml")).port == 7
    assert faults(Path("missing.toml")) == ("missing.toml: there is no such file",)


@pytest.mark.requirement("G22")
def test_every_fault_is_named_at_once_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    write('prot = 1\n[recall]\nlimit = 0\n[[upstreams]]\nname = "a"\n')
    monkeypatch.setenv("REMORA_PORT", "many")
    found = faults()
    assert len(found) == 4
    assert any(f.startswith("settings.toml, line 1: prot: there is no such setting") for f in found)
    assert any(f.startswith("settings.toml, line 3: recall.limit: ") for f in found)
    assert any(f.startswith("settings.toml, line 4: upstreams.0.url: ") for f in found)
    assert any(f.startswith("REMORA_PORT: ") for f in found)


@pytest.mark.requirement("G22")
def test_an_unknown_variable_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMORA_UPSTREAM_URI", "x")
    monkeypatch.setenv("REMORA_RECALL__LIMITS", "x")
    assert [fault.partition(":")[0] for fault in faults()] == [
        "REMORA_RECALL__LIMITS",
        "REMORA_UPSTREAM_URI",
    ]


def test_broken_toml_names_its_line() -> None:
    write("port = 1\nhost = \n")
    (fault,) = faults()
    assert "settings.toml" in fault
    assert "line 2" in fault


def test_a_wrong_value_is_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMORA_LOG_LEVEL", "sk-secret-in-the-wrong-place")
    assert "sk-secret" not in "".join(faults())


def test_what_is_no_json_is_a_clear_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMORA_UPSTREAMS", "[not json")
    (fault,) = faults()
    assert "upstreams" in fault


def test_a_variable_of_a_list_is_blamed_in_plain_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMORA_IDENTITY__TRUSTED_NETWORKS", '["10.0.0.0/99"]')
    monkeypatch.setenv("REMORA_IDENTITY__ORDER", '["foo"]')
    found = faults()
    assert {fault.partition(":")[0] for fault in found} == {
        "REMORA_IDENTITY__TRUSTED_NETWORKS",
        "REMORA_IDENTITY__ORDER",
    }
    assert "function-plain" not in "".join(found)


def test_a_fault_of_the_whole_stands_alone() -> None:
    write('store = "qdrant"\n')
    assert faults() == ("store = 'qdrant' needs qdrant_url",)
