from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import main
from app.identity import KeyRing

runner = CliRunner()


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REMORA_EMBEDDING", "hash")


@pytest.mark.requirement("M7")
def test_a_key_is_made_listed_and_revoked() -> None:
    made = runner.invoke(main, ["keys", "new", "--user", "ana", "--project", "apollo"])
    key = made.stdout.strip()
    assert made.exit_code == 0
    assert re.fullmatch(r"rmk_[\w-]{43}", key)
    found = KeyRing(Path("data/keys.json")).match(key)
    assert found is not None
    assert (found.user, found.project) == ("ana", "apollo")
    listed = runner.invoke(main, ["keys", "list"]).stdout
    assert "user=ana project=apollo" in listed
    assert key not in listed
    (key_id,) = re.findall(r"key_\w+", listed)
    assert runner.invoke(main, ["keys", "revoke", key_id]).exit_code == 0
    assert runner.invoke(main, ["keys", "list"]).stdout == ""
    again = runner.invoke(main, ["keys", "revoke", key_id])
    assert (again.exit_code, "no such key" in again.stderr) == (2, True)


def test_a_key_must_stand_for_somebody() -> None:
    made = runner.invoke(main, ["keys", "new"])
    assert (made.exit_code, len(made.stderr.strip().splitlines())) == (2, 1)


@pytest.mark.requirement("G22")
def test_each_fault_of_the_settings_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMORA_PROT", "1")
    Path("settings.toml").write_text("hots = 1\n")
    served = runner.invoke(main, ["serve"])
    assert served.exit_code == 2
    first, second = served.stderr.strip().splitlines()
    assert first.startswith("remora: REMORA_PROT: there is no such setting")
    assert second.startswith("remora: settings.toml: hots: there is no such setting")


def test_a_port_in_use_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setenv("REMORA_PORT", str(port))
        served = runner.invoke(main, ["serve"])
    assert served.exit_code == 2
    (line,) = served.stderr.strip().splitlines()
    assert f"127.0.0.1:{port}" in line
    assert "REMORA_PORT" in line


@pytest.mark.requirement("G24")
def test_an_open_relay_on_somebodys_bill_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMORA_HOST", "0.0.0.0")  # noqa: S104 that is the point
    monkeypatch.setenv("REMORA_UPSTREAM_KEY", "sk-paid")
    served = runner.invoke(main, ["serve"])
    assert served.exit_code == 2
    (line,) = served.stderr.strip().splitlines()
    assert "remora keys new --user" in line
    assert "sk-paid" not in line


def test_settings_are_printed_ready_to_use() -> None:
    printed = runner.invoke(main, ["settings"]).stdout
    assert "# port = 8080" in printed
    assert "| `port` |" in runner.invoke(main, ["settings", "--as", "markdown"]).stdout
