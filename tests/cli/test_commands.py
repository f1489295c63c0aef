from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import main

runner = CliRunner()


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_settings_are_printed_ready_to_use() -> None:
    printed = runner.invoke(main, ["settings"]).stdout
    assert "# port = 8080" in printed
    assert "| `port` |" in runner.invoke(main, ["settings", "--as", "markdown"]).stdout
    assert '"$schema"' in runner.invoke(main, ["settings", "--as", "schema"]).stdout


def test_the_version_is_shown() -> None:
    assert runner.invoke(main, ["--version"]).stdout.startswith("remora 0.")


@pytest.mark.requirement("G24")
def test_check_shows_the_configuration_and_every_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMORA_UPSTREAM_KEY", "sk-paid")
    fine = runner.invoke(main, ["check"])
    assert (fine.exit_code, "sk-paid" in fine.output) == (0, False)
    assert tomllib.loads(fine.stdout)["upstream_key"] == "**********"
    Path("settings.toml").write_text('[recall]\ngate = "magic"\nblock = ["["]\n')
    wrong = runner.invoke(main, ["check"])
    assert (wrong.exit_code, len(wrong.stderr.strip().splitlines())) == (2, 2)
    Path("settings.toml").write_text("\n[recall]\nlimit = 0\n")
    broken = runner.invoke(main, ["check"])
    assert broken.exit_code == 2
    assert "settings.toml, line 3: recall.limit" in broken.stderr
    assert not Path("data").exists()
