from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app import folder
from app.cli import main
from app.cli import reindex as command
from app.memory import STORES, StoreSpec
from app.settings import Settings
from tests.build import ALICE, EMBED, KEY, a_memory, contents
from tests.memory.two_models import ELSEWHERE, OLD, put

runner = CliRunner()


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REMORA_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("REMORA_EMBEDDING", "hash")
    made = tmp_path / "data"
    made.mkdir()
    asyncio.run(filled(spec_of(made, OLD)))
    return made


def spec_of(data: Path, embed: object = EMBED) -> StoreSpec:
    return StoreSpec(Settings(data_dir=data), embed, KEY)  # type: ignore[arg-type]


async def filled(spec: StoreSpec) -> None:
    async with STORES["edge"](spec) as store:
        await put(store._engine, a_memory("tea"), a_memory("ships", ELSEWHERE))


async def said(data: Path) -> list[list[str]]:
    async with STORES["edge"](spec_of(data)) as store:
        return [await contents(store, owner) for owner in (ALICE, ELSEWHERE)]


def names(data: Path) -> set[str]:
    return {path.name for path in data.iterdir() if path.is_dir()}


@pytest.mark.requirement("M4")
def test_the_memories_of_everyone_are_there_under_the_new_model(data: Path) -> None:
    old, new = spec_of(data, OLD).collection, spec_of(data).collection
    made = runner.invoke(main, ["reindex"])
    assert made.exit_code == 0, made.output
    assert made.stderr.splitlines() == [
        f"{old}: 2 rows, 2 to embed anew",
        f"they go to {new}",
    ]
    (closing,) = made.stdout.splitlines()
    assert closing.startswith(f"{new} is in use: of 2 rows 2 brought over, 0 there already")
    assert closing.endswith(f"kept, and not used any more: replaced-{old}")
    assert names(data) == {new, f"replaced-{old}"}
    assert asyncio.run(said(data)) == [["tea"], ["ships"]]
    again = runner.invoke(main, ["reindex"])
    assert (again.exit_code, again.stderr) == (0, "")
    assert again.stdout == f"nothing to do: no other collection than {new}\n"


@pytest.mark.requirement("M4")
def test_a_dry_run_tells_and_changes_nothing(data: Path) -> None:
    before = names(data)
    made = runner.invoke(main, ["reindex", "--dry-run", "--delete-old"])
    assert (made.exit_code, made.stdout) == (0, "nothing was changed\n")
    assert "2 rows, 2 to embed anew" in made.stderr
    assert names(data) == before


@pytest.mark.requirement("M4")
def test_the_old_one_can_be_deleted(data: Path) -> None:
    made = runner.invoke(main, ["reindex", "--delete-old"])
    assert made.stdout.endswith("; the old are deleted\n")
    assert names(data) == {spec_of(data).collection}


@pytest.mark.requirement("M4")
def test_a_running_server_is_one_clear_line(data: Path) -> None:
    with folder.held(data):
        made = runner.invoke(main, ["reindex"])
    assert (made.exit_code, len(made.stderr.splitlines())) == (2, 1)
    assert "is in use by another Remora" in made.stderr
    assert names(data) == {spec_of(data, OLD).collection}


def test_a_store_that_keeps_nothing_is_one_clear_line(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REMORA_STORE", "memory")
    made = runner.invoke(main, ["reindex"])
    assert (made.exit_code, made.stderr) == (
        2,
        "remora: store: 'memory' keeps nothing to embed anew\n",
    )
    assert names(data) == {spec_of(data, OLD).collection}


def test_a_server_that_is_away_is_one_clear_line(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REMORA_QDRANT_URL", "http://127.0.0.1:9")
    made = runner.invoke(main, ["reindex"])
    assert (made.exit_code, len(made.stderr.splitlines())) == (2, 1)
    assert made.stderr.startswith("remora: the memory store: the Qdrant server did not do")
    assert names(data) == {spec_of(data, OLD).collection}


@pytest.mark.usefixtures("data")
def test_progress_is_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "PACE", 0.0)
    made = runner.invoke(main, ["reindex"])
    assert made.exit_code == 0, made.output
    assert any(
        line.startswith("2 of 2 rows, ") and line.endswith(" a second")
        for line in made.stderr.splitlines()
    )
