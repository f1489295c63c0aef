from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import main
from app.identity import KeyRing

runner = CliRunner()


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


def test_no_keys_yet_is_said() -> None:
    listed = runner.invoke(main, ["keys", "list"])
    assert (listed.exit_code, listed.stdout) == (0, "")
    assert "remora keys new" in listed.stderr


@pytest.mark.parametrize("name", ["", "x" * 300])
def test_a_name_that_cannot_be_is_one_line(name: str) -> None:
    made = runner.invoke(main, ["keys", "new", "--user", name])
    (line,) = made.stderr.strip().splitlines()
    assert (made.exit_code, line.startswith("remora: user: ")) == (2, True)


def test_a_folder_that_cannot_be_written_is_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    monkeypatch.setenv("REMORA_DATA_DIR", "file/data")
    made = runner.invoke(main, ["keys", "new", "--user", "ana"])
    assert (made.exit_code, len(made.stderr.strip().splitlines())) == (2, 1)
