from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from pydantic import SecretStr

from app import folder
from app.errors import ConfigurationError
from app.settings import Settings


@pytest.mark.fault(37)
@pytest.mark.parametrize("spelled", ["data", "data/../data", "link"])
def test_a_second_holder_is_told_who_holds_it_and_what_to_do(tmp_path: Path, spelled: str) -> None:
    data = tmp_path / "data"
    (tmp_path / "link").symlink_to(data)
    with folder.held(data), pytest.raises(ConfigurationError) as caught:  # noqa: SIM117
        with folder.held(tmp_path / spelled):
            pass
    (fault,) = caught.value.faults
    assert f"process {os.getpid()}" in fault
    assert "REMORA_DATA_DIR" in fault
    with folder.held(data):
        pass


def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(ConfigurationError, match="cannot be used"),
        folder.held(tmp_path / "file/x"),
    ):
        pass


def test_the_secret_is_made_once_and_only_for_us(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    first = folder.secret(settings)
    assert len(first) == 64
    assert folder.secret(settings) == first
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600
    configured = Settings(data_dir=tmp_path, secret=SecretStr("mine"))
    assert folder.secret(configured) == b"mine"
