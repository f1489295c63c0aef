"""A Remora that runs: in this process on a free port, or as a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from app.cli import uvicorn_config
from app.main import create_app
from app.settings import Settings

PATIENCE = 20.0


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[str]:
    """Serve in this event loop; the base URL without /v1."""
    listener = socket.create_server(("127.0.0.1", 0))
    async with create_app(settings) as app:
        server = uvicorn.Server(uvicorn_config(app, settings))
        server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign,assignment]
        task = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started:
            await asyncio.sleep(0.005)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task
    listener.close()


def free_port() -> int:
    """A loopback port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Process:
    """`remora serve` as a process, configured by environment alone."""

    def __init__(self, folder: Path, **variables: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("REMORA_")},
            "REMORA_PORT": str(self.port),
            "REMORA_DATA_DIR": str(folder),
            **variables,
        }
        self._log = folder.parent / f"{folder.name}.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> str:
        return self._log.read_text()

    def start(self) -> None:
        command = [str(Path(sys.executable).with_name("remora")), "serve"]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command, env=self._environment, stdout=log, stderr=log, cwd=self._log.parent
            )
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self._process.poll() is None:
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{self.url}/readyz").status_code == httpx.codes.OK:
                    return
            time.sleep(0.05)
        raise AssertionError(f"it did not start:\n{self.log}")

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        assert self._process is not None
        self._process.send_signal(number)
        return self._process.wait(PATIENCE)


@contextmanager
def process(folder: Path, **variables: str) -> Iterator[Process]:
    """A started process, ended afterwards however the test went."""
    remora = Process(folder, **variables)
    remora.start()
    try:
        yield remora
    finally:
        with contextlib.suppress(ProcessLookupError, AssertionError):
            remora.stop(signal.SIGKILL)


async def settled(url: str, request_id: str, key: str = "sk-ana") -> dict[str, Any]:
    """The receipt of a call, once it is there."""
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as client:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            answer = await client.get(f"{url}/v1/memory/receipts/{request_id}")
            if answer.status_code == httpx.codes.OK:
                receipt: dict[str, Any] = answer.json()
                return receipt
            await asyncio.sleep(0.02)
    raise AssertionError(f"no receipt for {request_id}")
