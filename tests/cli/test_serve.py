from __future__ import annotations

import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import main

runner = CliRunner()


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REMORA_EMBEDDING", "hash")


@pytest.mark.requirement("G22")
def test_each_fault_of_the_settings_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMORA_PROT", "1")
    Path("settings.toml").write_text("hots = 1\n")
    served = runner.invoke(main, ["serve"])
    assert served.exit_code == 2
    first, second = served.stderr.strip().splitlines()
    assert first.startswith("remora: REMORA_PROT: there is no such setting")
    assert second.startswith("remora: settings.toml, line 1: hots: there is no such setting")


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
