"""The programs under measurement, each on a core of its own."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from app.memory.embed import load_model
from demo.stage import remora

if TYPE_CHECKING:
    from collections.abc import Iterator

LOAD_CORE, GATEWAY_CORE = 0, os.cpu_count() - 1 if (os.cpu_count() or 1) > 1 else 0  # type: ignore[operator]
TICKS = os.sysconf("SC_CLK_TCK")
HERE = Path(__file__).parent
PATIENCE = 120.0
_GATEWAYS: set[int] = set()
NGINX = """
worker_processes 1; daemon off; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
  access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;
  fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  keepalive_requests 100000000;
  upstream up {{ server 127.0.0.1:{upstream}; keepalive 64; keepalive_requests 100000000; }}
  server {{
    listen 127.0.0.1:{port} backlog=2048;
    location / {{ proxy_pass http://up; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_buffering off; client_max_body_size 50m; client_body_buffer_size 1m; }}
  }}
}}
"""


@contextmanager
def upstream() -> Iterator[int]:
    """The fake upstream, on the core of the load; its port."""
    command = [sys.executable, str(HERE / "upstream.py"), str(LOAD_CORE)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield int(process.stdout.readline()) if process.stdout else 0
        finally:
            process.terminate()


@contextmanager
def gateway(folder: Path, upstream_port: int, **variables: str) -> Iterator[tuple[int, int]]:
    """A Remora on the gateway's core; its port and process id."""
    url = f"http://127.0.0.1:{upstream_port}/v1"
    variables = {"REMORA_UPSTREAM_URL": url, "REMORA_LOG_LEVEL": "warning", **variables}
    with ExitStack() as stack:
        with _on_its_core():
            process = stack.enter_context(remora(folder, **variables))
        _GATEWAYS.add(process.pid)
        try:
            yield process.port, process.pid
        finally:
            _GATEWAYS.discard(process.pid)


def settle(port: int) -> None:
    """Wait until a gateway has learned from all that it was told."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        metrics = httpx.get(f"http://127.0.0.1:{port}/metrics").text
        if re.search(r"^remora_spool_waiting (?!0\.0)", metrics, re.MULTILINE) is None:
            return
        time.sleep(0.1)
    raise SystemExit("learning does not come to an end")


@contextmanager
def alone(pid: int | None) -> Iterator[None]:
    """The other gateways stand still: they share the core, and may still be learning."""
    others = _GATEWAYS - {pid}
    for other in others:
        os.kill(other, signal.SIGSTOP)
    try:
        yield
    finally:
        for other in others:
            os.kill(other, signal.SIGCONT)


@contextmanager
def _on_its_core() -> Iterator[None]:
    """A process starts on its parent's cores, and its libraries count them."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {GATEWAY_CORE})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def nginx(folder: Path, upstream_port: int, port: int) -> Iterator[tuple[int, int] | None]:
    """Nginx as the yardstick, if it is installed; its port and worker's process id."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        yield None
        return
    folder = folder / "nginx"
    folder.mkdir()
    config = folder / "nginx.conf"
    config.write_text(NGINX.format(folder=folder, port=port, upstream=upstream_port))
    with subprocess.Popen([program, "-c", str(config)], stderr=subprocess.DEVNULL) as master:
        try:
            worker = _worker(master.pid, port)
            os.sched_setaffinity(worker, {GATEWAY_CORE})
            yield port, worker
        finally:
            master.terminate()


def _worker(master: int, port: int) -> int:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            httpx.get(f"http://127.0.0.1:{port}/")
            children = Path(f"/proc/{master}/task/{master}/children").read_text().split()
            return int(children[0])
        except (httpx.TransportError, IndexError):
            time.sleep(0.05)
    raise RuntimeError("nginx did not start")


def started(folder: Path, upstream_port: int, body: bytes, **variables: str) -> tuple[float, float]:
    """Seconds from the command to `/readyz`, and megabytes in memory after a call."""
    began = time.monotonic()
    with gateway(folder, upstream_port, **variables) as (port, pid):
        seconds = time.monotonic() - began
        url = f"http://127.0.0.1:{port}/v1/chat/completions"
        headers = {"Authorization": "Bearer sk-bench", "Content-Type": "application/json"}
        for _ in range(3):
            httpx.post(url, content=body, headers=headers).raise_for_status()
        return seconds, resident_mb(pid)


def embedder_ms() -> float:
    """What the bundled model takes for one new short query, p50, on one core."""
    model = load_model("bundled")
    times = []
    for number in range(100):
        began = time.perf_counter()
        model.embed([f"Which place did I try tea in with group {number}?"])
        times.append((time.perf_counter() - began) * 1000)
    return sorted(times)[len(times) // 2]


def threads(pid: int | None) -> int:
    """How many threads a process has."""
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def cpu_seconds(pid: int | None) -> float:
    """User and system time of a process so far; 0 for none."""
    if pid is None:
        return 0.0
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def anonymous_mb(pid: int | None) -> float:
    """Resident memory that is the process's own: without the files that it maps."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("RssAnon:")) / 1024


def resident_mb(pid: int | None) -> float:
    """Resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1_048_576
