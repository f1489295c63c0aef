from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from app.cli import main


def test_the_settings_file_can_be_named(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f'port = 7\ndata_dir = "{tmp_path}/data"\n')
    shown = CliRunner().invoke(main, ["check", "--settings", str(file)])
    assert "port = 7 " in shown.stdout
    for wrong, said in ((tmp_path / "none", "no such file"), (tmp_path, "this is no file")):
        told = CliRunner().invoke(main, ["check", "--settings", str(wrong)])
        assert (told.exit_code, said in told.stderr) == (2, True)
