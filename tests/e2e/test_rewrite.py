"""Issue 6: a query rewritten by a real model. It is too small to judge what it writes."""

from __future__ import annotations

import re

import httpx
import pytest

from demo.tap import Tap
from tests.e2e import client
from tests.e2e.conftest import Start

ASKED = "Can you remind me what I called my dog?"


@pytest.mark.requirement("M12", "M14")
def test_a_real_model_is_asked_before_the_call_goes_on(start: Start, tap: Tap) -> None:
    remora = start(
        REMORA_RECALL__REWRITE__MODEL="smollm2",
        REMORA_RECALL__REWRITE__TIMEOUT="20",
        REMORA_RECALL__BUDGET_MS="5000",
    )
    before = len(tap.prompts)
    answer, headers = client.sync_whole(remora, "sk-ana", ASKED)
    assert answer
    assert headers["x-memory-status"] == "none"
    asked, chat = tap.prompts[before:]
    assert f"<message>\n{ASKED}\n</message>" in asked[-1]["content"]
    assert chat == [{"role": "user", "content": ASKED}]
    metrics = httpx.get(f"{remora.url}/metrics").text
    ((_, times),) = re.findall(r'remora_rewrite_total\{outcome="(\w+)"\} (\S+)', metrics)
    assert times == "1.0"
    assert "dog" not in remora.log
