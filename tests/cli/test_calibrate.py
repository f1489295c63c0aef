from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app import folder
from app.cli import main
from app.memory import STORES, StoreSpec
from app.memory.calibration import FEWEST, FILE
from app.settings import Settings
from tests.build import ALICE, EMBED, a_memory, keep

runner = CliRunner()
WHOSE = ("--tenant", ALICE.tenant)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REMORA_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("REMORA_EMBEDDING", "hash")
    return tmp_path / "data"


def fill(data: Path, count: int) -> None:
    data.mkdir()

    async def filled() -> None:
        settings = Settings(data_dir=data, embedding="hash")
        spec = StoreSpec(settings, EMBED, folder.secret(settings))
        async with STORES["edge"](spec) as store:
            facts = (
                a_memory(f"The user works for Acme {n}.", slot="employer") for n in range(count)
            )
            await keep(store, *facts)

    asyncio.run(filled())


@pytest.mark.requirement("M16")
def test_the_floor_is_fitted_and_kept_for_the_encoder(data: Path) -> None:
    fill(data, FEWEST)
    made = runner.invoke(main, ["calibrate", *WHOSE, "--dry-run"])
    assert made.exit_code == 0, made.output
    assert not (data / FILE).exists()
    made = runner.invoke(main, ["calibrate", *WHOSE])
    ((identity, row),) = json.loads((data / FILE).read_text()).items()
    assert (identity, row["questions"]) == (EMBED.identity, FEWEST)
    assert made.stdout.startswith(f"{row['floor']:.2f}  for {identity}")
    assert f"of {FEWEST} questions" in made.stderr


def test_too_few_facts_are_one_line(data: Path) -> None:
    fill(data, 3)
    made = runner.invoke(main, ["calibrate", *WHOSE])
    assert (made.exit_code, len(made.stderr.strip().splitlines())) == (2, 1)
    assert "3 facts say how" in made.stderr
    assert not (data / FILE).exists()
