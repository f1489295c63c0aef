"""Issue 2: the official SDK through a running Remora to a real language model."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from demo.stage import Remora
from demo.tap import Tap
from tests.e2e import client

SAID = "Hi! I'm Ana, I live in Lisbon and my dog is called Rex."
ASKED = "What is my dog called, and where do I live?"
FACTS = {
    "The user's name is Ana.": "name",
    "The user lives in Lisbon.": "home_city",
    "The user's dog is called Rex.": "pet.dog.name",
}
MODES: list[Callable[..., Any]] = [
    client.sync_whole,
    client.sync_streamed,
    client.async_whole,
    client.async_streamed,
]


async def ask(
    mode: Callable[..., Any], proxy: Remora, key: str, text: str
) -> tuple[str, Mapping[str, str]]:
    spoken = mode(proxy, key, text)
    answer: tuple[str, Mapping[str, str]] = await spoken if inspect.isawaitable(spoken) else spoken
    return answer


@pytest.mark.requirement("M1", "M9", "M11", "M22", "M23", "M26", "M27")
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.__name__)
@pytest.mark.fault(39)
async def test_said_in_one_session_known_in_the_next(
    mode: Callable[..., Any], shared: Remora, tap: Tap
) -> None:
    key, other = f"sk-ana-{mode.__name__}", f"sk-ben-{mode.__name__}"

    said, headers = await ask(mode, shared, key, SAID)
    assert said
    assert headers["x-memory-status"] == "none"
    assert tap.last_turn == SAID
    learned = client.receipt(shared, key, headers["x-remora-request-id"])
    assert learned["outcome"] == "stored"
    known = {row["id"]: row for row in client.rows(shared, key, type="semantic")}
    assert {row["content"]: row["slot"] for row in known.values()} == FACTS
    assert known.keys() <= set(learned["memories"])

    answer, headers = await ask(mode, shared, key, ASKED)
    assert answer
    assert headers["x-memory-status"] == "injected"
    shown = headers["x-memory-ids"].split(",")
    in_prompt = [line[2:] for line in tap.last_turn.splitlines() if line.startswith("- ")]
    assert [known[i]["content"] if i in known else None for i in shown if i in known] == [
        line for line in in_prompt if line in FACTS
    ]
    assert len(shown) == len(in_prompt)
    assert {"The user lives in Lisbon.", "The user's dog is called Rex."} <= set(in_prompt)
    assert tap.last_turn.startswith(f"{ASKED}\n\n<memory>\n")
    assert int(headers["x-memory-tokens"]) > 0

    _, headers = await ask(mode, shared, other, ASKED)
    assert (headers["x-memory-status"], tap.last_turn) == ("none", ASKED)

    with client.api(shared, key) as api:
        assert api.delete("/v1/memory", params={"all": "true"}).json()["deleted"] >= len(FACTS)
    _, headers = await ask(mode, shared, key, ASKED)
    assert (headers["x-memory-status"], tap.last_turn) == ("none", ASKED)


@pytest.mark.requirement("M9")
async def test_another_persons_memories_never_show_with_a_positive_control(
    shared: Remora, tap: Tap
) -> None:
    for key, dog in (("sk-c", "Rex"), ("sk-d", "Max")):
        _, headers = client.sync_whole(shared, key, f"My dog is called {dog}.")
        client.receipt(shared, key, headers["x-remora-request-id"])
    for key, mine, theirs in (("sk-c", "Rex", "Max"), ("sk-d", "Max", "Rex")):
        client.sync_whole(shared, key, "What is my dog called?")
        assert mine in tap.last_turn
        assert theirs not in tap.last_turn
        assert theirs not in str(client.rows(shared, key))


@pytest.mark.requirement("M10", "M11")
async def test_a_client_opts_out_by_a_header(shared: Remora, tap: Tap) -> None:
    key = "sk-optout"
    _, headers = client.sync_whole(shared, key, "My dog is called Rex.")
    client.receipt(shared, key, headers["x-remora-request-id"])
    body = {
        "model": "smollm2",
        "max_tokens": 1,
        "messages": [{"role": "user", "content": "What is my dog called?"}],
    }
    with client.api(shared, key) as api:
        for wish, status, written in (
            ("off", "skipped:client", False),
            ("read", "injected", False),
            ("write", "skipped:client", True),
            ("on", "injected", True),
        ):
            answer = api.post("/v1/chat/completions", json=body, headers={"X-Memory": wish})
            assert answer.headers["x-memory-status"] == status
            assert ("Rex" in tap.last_turn) == (status == "injected")
            request_id = answer.headers["x-remora-request-id"]
            if written:
                client.receipt(shared, key, request_id)
            else:
                assert api.get(f"/v1/memory/receipts/{request_id}").status_code == 404
