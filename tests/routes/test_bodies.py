from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import httpx
import pytest

from app.domain import Event, MemoryType, State
from app.routes.bodies import NewMemory, Patch, corrected
from tests.build import a_memory, later
from tests.routes.test_memories import create, listed

EVENT = Event(later(5), "corrected", "alice")


def test_content_is_cleaned() -> None:
    assert NewMemory(content="  cafe\u0301 \n").content == "café"


def test_times_without_a_zone_are_utc() -> None:
    body = NewMemory(content="x", valid_from=datetime(2026, 1, 1))  # noqa: DTZ001 on purpose
    assert body.valid_from == datetime(2026, 1, 1, tzinfo=UTC)


def test_a_patch_changes_only_what_it_names() -> None:
    memory = a_memory("x", slot="home_city", valid_to=later(9), quote="as said")
    same = corrected(memory, Patch(), EVENT)
    times = replace(memory.times, updated_at=EVENT.at)
    assert same == replace(memory, times=times, history=(EVENT,))
    patch = Patch(type=MemoryType.PROCEDURAL, pinned=True, state="rejected", importance=0.1)
    changed = corrected(memory, patch, EVENT)
    assert (changed.fact.type, changed.fact.pinned) == (MemoryType.PROCEDURAL, True)
    assert (changed.state, changed.fact.importance) == (State.REJECTED, 0.1)
    assert (changed.fact.slot, changed.origin.quote) == ("home_city", "as said")


@pytest.mark.parametrize("name", ["slot", "valid_to"])
def test_null_clears_what_may_be_empty(name: str) -> None:
    memory = a_memory("x", slot="home_city", valid_to=later(9))
    changed = corrected(memory, Patch.model_validate({name: None, "content": None}), EVENT)
    assert (changed.fact.slot, changed.times.valid_to)[name == "valid_to"] is None
    assert changed.fact.content == "x"


def test_new_words_are_nobodys_quotation() -> None:
    memory = a_memory("x", quote="as said")
    assert corrected(memory, Patch(content="y"), EVENT).origin.quote is None


@pytest.mark.requirement("M32")
@pytest.mark.parametrize("secret", ["The user's password is hunter2.", "PIN is 4711"])
async def test_a_secret_is_not_taken_by_the_api_either(
    client: httpx.AsyncClient, secret: str
) -> None:
    row = await create(client, "The user's dog is called Rex.")
    made = await client.post("/v1/memory", json={"content": secret})
    changed = await client.patch(f"/v1/memory/{row['id']}", json={"content": secret})
    for answer in (made, changed):
        error = answer.json()["error"]
        assert (answer.status_code, error["param"]) == (400, "content")
        assert "secret" in error["message"]
        assert secret.rpartition(" ")[2].rstrip(".") not in error["message"]
    assert [m["content"] for m in (await listed(client))["data"]] == [row["content"]]


async def test_a_body_of_another_kind_is_told_in_plain_words(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/memory", content=b'{"content":"x"}')
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_type")
    assert "Content-Type" in answer.json()["error"]["message"]
    row = await create(client, "x")
    wrong = await client.patch(f"/v1/memory/{row['id']}", json={"state": "gone"})
    assert "'active' or 'rejected'" in wrong.json()["error"]["message"]
