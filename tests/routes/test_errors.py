from __future__ import annotations

import httpx
import pytest
from fastapi import FastAPI

from app.routes import errors


@pytest.fixture
async def client() -> httpx.AsyncClient:
    api = FastAPI()
    errors.install(api)

    @api.get("/broken")
    async def broken() -> None:
        raise KeyError("my PIN is 1234")

    transport = httpx.ASGITransport(api, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://test")


async def test_what_nobody_expected_is_told_without_its_content(client: httpx.AsyncClient) -> None:
    answer = await client.get("/broken")
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal_error"
    assert "1234" not in answer.text


async def test_a_path_that_is_not_there(client: httpx.AsyncClient) -> None:
    answer = await client.get("/nowhere")
    assert answer.json()["error"]["message"] == errors.NOWHERE
