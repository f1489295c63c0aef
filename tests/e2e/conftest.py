"""A real language model, a wire tap in front of it, and Remoras as processes of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from demo.stage import Remora, language_model, remora
from demo.tap import Tap

Start = Callable[..., Remora]


@pytest.fixture(scope="session")
def tap() -> Iterator[Tap]:
    with language_model() as url, Tap(url) as running:
        yield running


@pytest.fixture(scope="module")
def shared(tap: Tap, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remora]:
    """One with the bundled model and the embedded store, as `make run` starts it."""
    folder = tmp_path_factory.mktemp("shared") / "data"
    with remora(folder, REMORA_UPSTREAM_URL=tap.url, REMORA_ADMIN_KEY="boss") as running:
        yield running


@pytest.fixture
def start(tap: Tap, tmp_path: Path) -> Iterator[Start]:
    """Starts further ones; all end with the test."""
    with ExitStack() as stack:

        def begin(folder: str = "data", **variables: str) -> Remora:
            usual = {"REMORA_UPSTREAM_URL": tap.url, "REMORA_EMBEDDING": "hash"}
            return stack.enter_context(remora(tmp_path / folder, **(usual | variables)))

        yield begin
