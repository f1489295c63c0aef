"""Sets the stage for the demo and the end-to-end tests: a real model, a wire tap, a Remora."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

HERE = Path(__file__).parent
PATIENCE = 60.0


@contextmanager
def language_model() -> Iterator[str]:
    """A llama.cpp server with SmolLM2-135M in a process of its own; its base URL without /v1."""
    command = [sys.executable, str(HERE / "llama.py")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            line = process.stdout.readline().strip() if process.stdout else ""
            if not line.startswith("http"):
                raise RuntimeError("the language model did not start")
            yield line
        finally:
            process.terminate()


class Remora:
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
        """What it has printed so far."""
        return self._log.read_text()

    @property
    def pid(self) -> int:
        """Its process id."""
        if self._process is None:
            raise RuntimeError("it was not started")
        return self._process.pid

    def start(self) -> None:
        """Start, and wait until it is ready."""
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
        raise RuntimeError(f"Remora did not start:\n{self.log}")

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and wait for the end; its exit status."""
        if self._process is None:
            raise RuntimeError("it was not started")
        if self._process.poll() is None:
            self._process.send_signal(number)
        return self._process.wait(PATIENCE)


@contextmanager
def remora(folder: Path, **variables: str) -> Iterator[Remora]:
    """A started Remora, ended afterwards however things went."""
    process = Remora(folder, **variables)
    process.start()
    try:
        yield process
    finally:
        process.stop(signal.SIGKILL)


def free_port() -> int:
    """A loopback port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
