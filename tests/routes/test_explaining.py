from __future__ import annotations

from typing import Any

import httpx
import pytest


async def explained(client: httpx.AsyncClient, q: str, **params: Any) -> httpx.Response:
    return await client.get("/v1/memory/search", params={"q": q, "explain": "true", **params})


@pytest.mark.requirement("M19")
async def test_a_search_can_say_what_a_call_would_recall(client: httpx.AsyncClient) -> None:
    for content in ("The user's dog is called Rex.", "The user collects stamps."):
        await client.post("/v1/memory", json={"content": content})
    answer = await explained(client, "What is my dog called? The user's dog is called?")
    rows = answer.json()["data"]
    assert answer.status_code == 200
    assert {row["content"]: row["admitted"] for row in rows} == {
        "The user's dog is called Rex.": True,
        "The user collects stamps.": False,
    }
    assert {row["reason"] for row in rows} == {None, "relevance"}
    assert all({"cosine", "bm25", "fused"} <= row["scores"].keys() for row in rows)


async def test_an_explanation_takes_no_filters(client: httpx.AsyncClient) -> None:
    answer = await explained(client, "dog", type="semantic")
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (400, "invalid_filter", "explain")
    assert (await explained(client, "dog", as_of="2026-01-01")).status_code == 400


async def test_nothing_is_explained_to_another(client: httpx.AsyncClient) -> None:
    await client.post("/v1/memory", json={"content": "The user's dog is called Rex."})
    other = {"Authorization": "Bearer sk-ben"}
    params = {"q": "The user's dog is called Rex.", "explain": "true"}
    answer = await client.get("/v1/memory/search", params=params, headers=other)
    assert answer.json()["data"] == []
