from __future__ import annotations

import pytest

from app.cli.faults import one_line_per_fault
from app.errors import ConfigurationError, StoreError
from app.settings import Principal


def test_each_fault_is_a_line_and_the_exit_status_is_two(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as caught, one_line_per_fault():
        raise ConfigurationError("this", "that")
    assert caught.value.code == 2
    assert capsys.readouterr().err == "remora: this\nremora: that\n"


def test_values_and_files_are_faults_too(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit), one_line_per_fault():
        Principal(user="")
    assert capsys.readouterr().err.startswith("remora: user: ")
    with pytest.raises(SystemExit), one_line_per_fault():
        raise PermissionError(13, "Permission denied", "data")
    assert capsys.readouterr().err == "remora: data: Permission denied\n"
    with pytest.raises(SystemExit), one_line_per_fault():
        raise StoreError("the disk is full")
    assert capsys.readouterr().err == "remora: the memory store: the disk is full\n"


def test_what_is_a_bug_is_not_hidden() -> None:
    with pytest.raises(KeyError), one_line_per_fault():
        raise KeyError
