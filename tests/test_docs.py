"""The documents are true: examples run, links lead somewhere, tables are whole."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tomllib
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from app.memory.gates import GATES, GateSettings
from tests.conftest import MakeSettings
from tests.running import running, settled
from tests.scripted import scripted_upstream

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")])
ADDRESS = "http://127.0.0.1:8080"


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text()
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [re.split(r"[\[<>=]", line)[0] for line in project["dependencies"]]
    table = (ROOT / "docs" / "architecture.md").read_text().partition("## Dependencies")[2]
    assert re.findall(r"(?m)^\| ([a-z-]+) \| \S", table)[1:] == named
    for line in project["optional-dependencies"]["dev"]:
        assert re.split(r"[\[<>=]", line)[0] in table


async def test_the_readmes_client_and_curls_work(make_settings: MakeSettings) -> None:
    (snippet,) = blocks("README.md", "python")
    (curls,) = blocks("README.md", "bash")
    async with AsyncExitStack() as stack:
        upstream = await stack.enter_async_context(scripted_upstream())
        settings = make_settings(upstream_url=upstream.url)
        url = await stack.enter_async_context(running(settings))
        said = await run([sys.executable, "-c", snippet.replace(ADDRESS, url)])
        assert said.strip() == "Noted."
        assert upstream.last.last_user_text == "My dog is called Rex."
        answer = await run(["bash", "-euc", last_request(url)])
        request_id = re.findall(r"(?i)x-remora-request-id: (\S+)", answer)[0]
        await settled(url, request_id, "sk-your-own-key")
        script = curls.replace(ADDRESS, url).replace("curl -s", "curl -sS --fail-with-body")
        printed = await run(["bash", "-euc", script], REQUEST_ID=request_id)
    for expected in ("The user lives in Lisbon.", "scores", "Porto", "receipt", "deleted"):
        assert expected in printed
    assert "remora_calls_total" in printed


def last_request(url: str) -> str:
    body = '{"messages":[{"role":"user","content":"My dog is called Rex."}]}'
    key = "Authorization: Bearer sk-your-own-key"
    return f"curl -si {url}/v1/chat/completions -H '{key}' -d '{body}'"


async def run(command: list[str], **variables: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, **variables},
    )
    printed, _ = await process.communicate()
    assert process.returncode == 0, printed.decode()
    return printed.decode()


def test_the_recipe_for_a_gate_makes_a_gate() -> None:
    (recipe,) = blocks("docs/extending.md", "python")
    space: dict[str, object] = {}
    exec(recipe, space)  # noqa: S102 the page's own example
    made = space["FirstGate"](GateSettings(len, 0.3))  # type: ignore[operator]
    assert callable(made)
    assert "first" not in GATES


def test_the_commands_of_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    readme = (ROOT / "README.md").read_text()
    for target in re.findall(r"(?m)^\$ .*?make (\w+)", readme):
        assert re.search(rf"(?m)^{target}:", makefile), target
    for command in re.findall(
        r"remora (keys new|keys list|serve)", (ROOT / "README.md").read_text()
    ):
        listed = subprocess.run(
            [str(Path(sys.executable).with_name("remora")), *command.split(), "--help"],
            capture_output=True,
            check=False,
        )
        assert listed.returncode == 0, command
