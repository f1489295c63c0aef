from __future__ import annotations

import json
import logging

import pytest
import structlog

from app import log


@pytest.mark.requirement("G25")
def test_a_line_is_json_with_its_time_and_level(capsys: pytest.CaptureFixture[str]) -> None:
    log.set_up("info")
    structlog.get_logger().info("call", status=200, steps={"recall": 1.5})
    structlog.get_logger().debug("unseen")
    (line,) = capsys.readouterr().err.splitlines()
    entry = json.loads(line)
    assert (entry["event"], entry["status"], entry["level"]) == ("call", 200, "info")
    assert entry["timestamp"].endswith("Z")


def test_libraries_cannot_log_content(capsys: pytest.CaptureFixture[str]) -> None:
    log.set_up("info")
    try:
        int("my PIN is 1234")
    except ValueError:
        logging.getLogger("aiohttp").exception("failed on %s", "my PIN is 1234")
    logging.getLogger("aiohttp").info("unseen")
    (line,) = capsys.readouterr().err.splitlines()
    assert "1234" not in line
    assert json.loads(line)["exception"] == "ValueError"
