"""What the Dockerfile does, proven outside a container: its lint, its wheel, its health check."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import MakeSettings
from tests.running import running

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def test_the_dockerfile_has_no_lint() -> None:
    tool = Path(sys.executable).with_name("hadolint")
    found = subprocess.run(
        [str(tool), "--no-color", str(ROOT / "Dockerfile")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, found.stdout) == (0, "")


def test_the_wheel_holds_the_model_and_the_rules(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for path in (ROOT / "app").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert str(path.relative_to(ROOT)) in names, path
    assert not any(name.startswith(("tests/", "bench/", "demo/")) for name in names)


def test_the_build_context_holds_what_is_copied() -> None:
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line[0] == "!"}
    copied = re.findall(r"(?m)^COPY (?!--from)(.*) \S+$", DOCKERFILE)
    assert {path for line in copied for path in line.split()} == kept


async def test_the_health_check_tells_a_running_one(make_settings: MakeSettings) -> None:
    command = json.loads(re.findall(r"HEALTHCHECK[^\[]*(\[.*\])", DOCKERFILE)[0])
    async with running(make_settings(upstream_url="http://127.0.0.1:1")) as url:
        port = url.rpartition(":")[2]
        assert await _exit_status(command, port) == 0
    assert await _exit_status(command, port) != 0


async def _exit_status(command: list[str], port: str) -> int:
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command[1:], env={"REMORA_PORT": port}, stderr=asyncio.subprocess.DEVNULL
    )
    return await process.wait()


@pytest.mark.parametrize("setting", ["HOST", "PORT", "DATA_DIR"])
def test_the_image_sets_what_a_container_needs(setting: str) -> None:
    assert f"REMORA_{setting}=" in DOCKERFILE
    assert "USER 10001" in DOCKERFILE
