"""Issue 5: the llm extractor with a real model. It is too small to judge what it finds."""

from __future__ import annotations

import re

import httpx
import pytest

from demo.tap import Tap
from tests.e2e import client
from tests.e2e.conftest import Start

SAID = "My dog is called Rex."


@pytest.mark.requirement("M28")
def test_a_real_model_is_asked_and_the_turn_ends_in_a_receipt(start: Start, tap: Tap) -> None:
    remora = start(
        REMORA_LEARNING__EXTRACTOR="llm",
        REMORA_LEARNING__LLM__MODEL="smollm2",
        REMORA_LEARNING__LLM__MAX_TOKENS="96",
        REMORA_LEARNING__LLM__TIMEOUT="8",
    )
    before = len(tap.prompts)
    answer, headers = client.sync_whole(remora, "sk-ana", SAID)
    assert answer
    learned = client.receipt(remora, "sk-ana", headers["x-remora-request-id"])
    assert learned["outcome"] in {"stored", "nothing"}
    asked = [prompt for prompt in tap.prompts[before:] if prompt[0]["role"] == "system"]
    assert f"<message>\n{SAID}\n</message>" in asked[0][1]["content"]
    metrics = httpx.get(f"{remora.url}/metrics").text
    counted = re.findall(
        r'remora_extractor_total\{extractor="llm",outcome="(\w+)"\} (\S+)', metrics
    )
    ((outcome, times),) = counted
    assert times == "1.0"
    rows = client.rows(remora, "sk-ana", type="semantic")
    if outcome != "ok":  # nothing is lost
        assert [row["content"] for row in rows] == ["The user's dog is called Rex."]
    assert {row["created_via"] for row in rows} <= {"llm" if outcome == "ok" else "heuristic"}
    assert "Rex" not in remora.log
