from __future__ import annotations

import httpx
import pytest
from pydantic import SecretStr

from app.errors import StoreError
from app.memory.stores.base import PayloadStore
from tests.routes.conftest import Serve


@pytest.mark.requirement("G21")
async def test_alive_and_ready(client: httpx.AsyncClient) -> None:
    assert (await client.get("/healthz")).json() == {"status": "ok"}
    ready = await client.get("/readyz")
    assert (ready.status_code, ready.json()) == (200, {"status": "ready"})


@pytest.mark.requirement("G21")
async def test_details_are_for_administrators(serve: Serve) -> None:
    client = await serve(admin_key=SecretStr("boss"))
    details = (await client.get("/readyz", headers={"Authorization": "Bearer boss"})).json()
    assert details["store"] == "ok"
    assert details["upstreams"] == ["default"]
    assert details["embedding"].startswith("hash")
    assert details["waiting"] == 0


@pytest.mark.requirement("G21")
async def test_a_store_that_is_down_is_not_ready_but_alive(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def down(*_: object, **__: object) -> None:
        raise StoreError("down")

    monkeypatch.setattr(PayloadStore, "find", down)
    assert (await client.get("/readyz")).status_code == 503
    assert (await client.get("/healthz")).status_code == 200
    answer = await client.get("/v1/memory")
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "store_unavailable")


@pytest.mark.requirement("G21", "M12")
async def test_where_nothing_can_be_kept_calls_go_on_and_it_shows(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = await serve(admin_key=SecretStr("boss"))
    monkeypatch.setattr("app.folder.RESERVE", 1 << 60)
    ready = await client.get("/readyz", headers={"Authorization": "Bearer boss"})
    assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
    assert ready.json()["data_dir"] == "the disk is full"
    asked = {"messages": [{"role": "user", "content": "Hello there"}]}
    assert (await client.post("/v1/chat/completions", json=asked)).status_code == 200


@pytest.mark.requirement("G21")
async def test_metrics_are_prometheus_and_name_nobody(client: httpx.AsyncClient) -> None:
    body = {"messages": [{"role": "user", "content": "My dog is called Rexinald."}]}
    await client.post("/v1/chat/completions", json=body)
    text = (await client.get("/metrics")).text
    assert 'remora_calls_total{route="/v1/chat"' in text
    assert "remora_step_seconds_bucket" in text
    assert "http_requests_total" in text
    for secret in ("Rexinald", "sk-ana", "u_"):
        assert f'"{secret}' not in text
        assert f"={secret}" not in text


async def test_the_docs_are_of_the_admin_api(client: httpx.AsyncClient) -> None:
    paths = (await client.get("/openapi.json")).json()["paths"]
    assert "/v1/memory/{memory_id}" in paths
    assert "/v1/chat/completions" not in paths


async def test_the_docs_load_nothing_from_elsewhere_and_ask_for_a_key(
    client: httpx.AsyncClient,
) -> None:
    page = (await client.get("/docs")).text
    assert "://" not in page
    assert (await client.get("/static-offline-docs/swagger-ui-bundle.js")).status_code == 200
    api = (await client.get("/openapi.json")).json()
    assert set(api["components"]["securitySchemes"]) == {"HTTPBearer", "APIKeyHeader"}
    assert api["paths"]["/v1/memory"]["get"]["security"]
