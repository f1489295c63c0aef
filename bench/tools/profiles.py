"""Where the time of a gateway's event loop goes: samples by py-spy, told by library and by step."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from bench.tools.report import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

RATE = 500
SECONDS = 8
_FRAME = re.compile(r"(?P<function>.*) \((?P<file>.*?)(?::\d+)?\)$")
# A line of the table, and what a stack of that kind has in it; the first that fits counts.
PARTS = (
    ("learning, behind the answers", "app/spool/worker.py"),
    ("recall: the store", "app/memory/stores/"),
    ("recall: embedding, cues, words", "app/filters/recall.py"),
    ("gate", "app/filters/gate.py"),
    ("inject", "app/filters/inject.py"),
    ("read, identity, policy", "app/filters/"),
    ("keeping the turn", "app/routes/learning.py"),
    ("upstream: aiohttp", "aiohttp/"),
    ("upstream: httpx", "httpx/"),
    ("upstream: ours", "app/upstream/"),
    ("log and metrics", "app/metrics.py"),
    ("log and metrics", "in report"),
    ("client: uvicorn", "uvicorn/protocols/http/httptools_impl.py RequestResponseCycle.send"),
    ("proxy: ours", "app/routes/"),
    ("client: uvicorn", "uvicorn/"),
    ("event loop (uvloop) and system calls", ""),
)


def show(name: str, pid: int, load: Callable[[], object]) -> None:
    """Put load on the process and print the shares of its event loop's time."""
    program = shutil.which("py-spy", path=str(Path(sys.executable).parent))
    if program is None:
        raise SystemExit("py-spy is missing: make setup")
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "stacks"
        command = [program, "record", "--pid", str(pid), "--rate", str(RATE), "--format", "raw"]
        command += ["--duration", str(SECONDS), "--output", str(output)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as spy:
            while spy.poll() is None:
                load()
        shares = parts(output.read_text().splitlines())
    whole = sum(shares.values())
    rows = [[part, count / whole * 100] for part, count in shares.most_common()]
    table(f"Where the time goes: {name}, {whole} samples", ["part", "%"], rows)


def parts(stacks: Iterable[str]) -> Counter[str]:
    """Samples of the event loop's thread by part; `stacks` are lines `frame;frame;… count`."""
    shares: Counter[str] = Counter()
    for line in stacks:
        stack, _, count = line.rpartition(" ")
        if "uvloop" in stack:
            shares[_part(stack.split(";"))] += int(count)
    return shares


def _part(frames: list[str]) -> str:
    told = ";".join(_told(frame) for frame in frames)
    return next(part for part, mark in PARTS if mark in told)


def _told(frame: str) -> str:
    found = _FRAME.match(frame)
    return f"{found['file']} {found['function']} in {found['function']}" if found else frame
