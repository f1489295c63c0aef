"""What every test starts from: no REMORA_ variable of the machine, settings of its own."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from app.settings import Settings

MakeSettings = Callable[..., Settings]


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("REMORA_")]:
        monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers, root.level = handlers, level
    structlog.reset_defaults()


@pytest.fixture
def make_settings(tmp_path: Path) -> MakeSettings:
    """Settings of a small, quick Remora: hashed embedder, store in memory, own data folder."""

    def make(**fields: Any) -> Settings:
        usual: dict[str, Any] = {
            "data_dir": tmp_path / "data",
            "embedding": "hash",
            "store": "memory",
        }
        return Settings(**(usual | fields))

    return make
