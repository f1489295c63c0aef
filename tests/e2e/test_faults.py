"""What happens when things are taken away: the process, the folder, the second process."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from demo.stage import Remora
from demo.tap import Tap
from tests.e2e import client
from tests.e2e.conftest import Start

KEY = "sk-ana"
SAID = "My dog is called Rex."
FACT = "The user's dog is called Rex."


@pytest.mark.requirement("M27")
@pytest.mark.parametrize("say", [client.sync_whole, client.sync_streamed])
@pytest.mark.fault(38)
def test_a_killed_process_learns_after_restart_exactly_once(
    start: Start, say: Callable[..., client.Spoken]
) -> None:
    remora = start()
    _, headers = say(remora, KEY, SAID)
    remora.stop(signal.SIGKILL)
    for _ in range(2):  # learning it once is not enough: it must not be learned again either
        remora.start()
        client.receipt(remora, KEY, headers["x-remora-request-id"])
        found = client.rows(remora, KEY, type="semantic")
        assert [row["content"] for row in found] == [FACT]
        assert [event["event"] for event in found[0]["history"]] == ["created"]
        remora.stop(signal.SIGKILL)


@pytest.mark.requirement("G22")
@pytest.mark.fault(38)
def test_a_stop_lets_go_cleanly_and_forgets_nothing(start: Start) -> None:
    remora = start()
    _, headers = client.sync_whole(remora, KEY, SAID)
    assert remora.stop(signal.SIGTERM) == 0
    remora.start()
    client.receipt(remora, KEY, headers["x-remora-request-id"])
    assert [row["content"] for row in client.rows(remora, KEY, type="semantic")] == [FACT]
    assert remora.stop(signal.SIGINT) == 0
    assert "Traceback" not in remora.log


@pytest.mark.requirement("M12")
def test_the_answer_comes_with_the_stores_folder_taken_away(
    start: Start, tap: Tap, tmp_path: Path
) -> None:
    remora = start()
    _, headers = client.sync_whole(remora, KEY, SAID)
    client.receipt(remora, KEY, headers["x-remora-request-id"])
    shutil.rmtree(tmp_path / "data")
    for say in (client.sync_whole, client.sync_streamed):
        answer, headers = say(remora, KEY, "What is my dog called?")
        assert answer
        assert headers["x-memory-status"]
        assert tap.last_turn.startswith("What is my dog called?")
    assert httpx.get(f"{remora.url}/healthz").status_code == 200


@pytest.mark.fault(37)
def test_a_second_process_on_the_folder_is_told_who_holds_it(start: Start, tmp_path: Path) -> None:
    first = start()
    command = [str(Path(sys.executable).with_name("remora")), "serve"]
    environment = {"REMORA_DATA_DIR": str(tmp_path / "data"), "REMORA_PORT": "0"}
    second = subprocess.run(
        command,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        cwd=tmp_path,
    )
    assert second.returncode == 2
    (line,) = second.stderr.strip().splitlines()
    assert f"process {first.pid}" in line
    assert httpx.get(f"{first.url}/readyz").status_code == 200


def test_a_corrupt_spool_is_set_aside_and_the_store_is_kept(start: Start, tmp_path: Path) -> None:
    remora = start()
    _, headers = client.sync_whole(remora, KEY, SAID)
    client.receipt(remora, KEY, headers["x-remora-request-id"])
    remora.stop(signal.SIGKILL)
    spool = tmp_path / "data" / "spool.sqlite"
    for part in spool.parent.glob("spool.sqlite*"):
        part.write_bytes(b"garbage" * 1000)
    remora.start()
    assert [row["content"] for row in client.rows(remora, KEY, type="semantic")] == [FACT]
    assert len(list(spool.parent.glob("spool.sqlite.damaged-*"))) >= 1
    _, headers = client.sync_whole(remora, KEY, "My cat is called Tom.")
    assert client.receipt(remora, KEY, headers["x-remora-request-id"])["outcome"] == "stored"
    assert "damaged_spool" in remora.log


def test_without_a_model_hub_or_network_it_starts(start: Start) -> None:
    blocked = dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY"), "http://127.0.0.1:1")
    remora: Remora = start("offline", REMORA_EMBEDDING="bundled", **blocked)
    _, headers = client.sync_whole(remora, KEY, SAID)
    assert client.receipt(remora, KEY, headers["x-remora-request-id"])["outcome"] == "stored"
