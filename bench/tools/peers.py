"""Other gateways, installed into throw-away environments, for a figure of the same run."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx

from bench.tools.processes import GATEWAY_CORE
from demo.stage import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATIENCE = 120.0
ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOG": "ERROR",
    "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
}
LITELLM = """
model_list:
  - model_name: m
    litellm_params: {{model: openai/m, api_base: "http://127.0.0.1:{upstream}/v1", api_key: sk-x}}
"""


@contextmanager
def litellm(folder: Path, upstream: int) -> Iterator[tuple[int, int] | None]:
    """LiteLLM's proxy on the gateway's core; port and process id, or None if it cannot be had."""
    environment = folder / "litellm"
    config = folder / "litellm.yaml"
    config.write_text(LITELLM.format(upstream=upstream))
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    install = [str(environment / "bin/pip"), "install", "-q", "litellm[proxy]"]
    if subprocess.run(
        install, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ).returncode:
        print("LiteLLM could not be installed; left out")
        yield None
        return
    port = free_port()
    command = [str(environment / "bin/litellm"), "--config", str(config), "--port", str(port)]
    with (
        (folder / "litellm.log").open("wb") as log,
        subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--telemetry", "False"],
            stdout=log,
            stderr=log,
            cwd=folder,
            env={**os.environ, **ENVIRONMENT},
        ) as process,
    ):
        try:
            started = _wait(port, process)
            if started:
                os.sched_setaffinity(process.pid, {GATEWAY_CORE})
            yield (port, process.pid) if started else None
        finally:
            process.terminate()


def _wait(port: int, process: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"http://127.0.0.1:{port}/health/liveliness").is_success:
                return True
        except httpx.TransportError:
            time.sleep(0.5)
    print("LiteLLM did not start; left out")
    return False
