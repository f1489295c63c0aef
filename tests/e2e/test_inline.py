"""Issue 5: the inline extractor with a real model, which is too small to do as it is asked."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.e2e import client
from tests.e2e.conftest import Start

SAID = "My dog is called Rex."


@pytest.mark.requirement("M28")
@pytest.mark.parametrize("stream", [False, True])
def test_a_real_model_is_asked_and_nothing_of_it_is_seen(start: Start, stream: bool) -> None:
    remora = start(REMORA_LEARNING__EXTRACTOR="inline")
    body: dict[str, Any] = {
        "model": "smollm2",
        "temperature": 0,
        "max_tokens": 256,
        "stream": stream,
        "messages": [{"role": "user", "content": SAID}],
    }
    with client.api(remora, "sk-ana") as ana:
        answer = ana.post("/v1/chat/completions", json=body, timeout=60)
    assert answer.status_code == 200
    assert "<remora-" not in answer.text
    assert answer.text.rstrip().endswith("[DONE]" if stream else "}")
    assert answer.headers["x-memory-status"] == "none"
    learned = client.receipt(remora, "sk-ana", answer.headers["x-remora-request-id"])
    assert learned["outcome"] in {"stored", "nothing"}
    counted = httpx.get(f"{remora.url}/metrics").text
    assert 'remora_inline_total{outcome="asked"} 1.0' in counted
    if 'remora_inline_total{outcome="hit"} 1.0' not in counted:  # nothing is lost
        rows = client.rows(remora, "sk-ana", type="semantic")
        assert [row["content"] for row in rows] == ["The user's dog is called Rex."]
    assert "Rex" not in remora.log
