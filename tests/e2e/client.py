"""What the end-to-end tests do as a person would: talk by the official SDK, look by HTTP."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import httpx
from openai import AsyncOpenAI, OpenAI

from demo.stage import Remora

Spoken = tuple[str, Mapping[str, str]]
QUESTION = {"model": "smollm2", "temperature": 0, "max_tokens": 24}


def sync_whole(proxy: Remora, key: str, text: str) -> Spoken:
    with OpenAI(base_url=f"{proxy.url}/v1", api_key=key) as client:
        raw = client.chat.completions.with_raw_response.create(**_request(text))
        return raw.parse().choices[0].message.content or "", raw.headers


def sync_streamed(proxy: Remora, key: str, text: str) -> Spoken:
    with OpenAI(base_url=f"{proxy.url}/v1", api_key=key) as client:
        raw = client.chat.completions.with_raw_response.create(**_request(text), stream=True)
        parts = [chunk.choices[0].delta.content or "" for chunk in raw.parse() if chunk.choices]
        return "".join(parts), raw.headers


async def async_whole(proxy: Remora, key: str, text: str) -> Spoken:
    async with AsyncOpenAI(base_url=f"{proxy.url}/v1", api_key=key) as client:
        raw = await client.chat.completions.with_raw_response.create(**_request(text))
        return raw.parse().choices[0].message.content or "", raw.headers


async def async_streamed(proxy: Remora, key: str, text: str) -> Spoken:
    async with AsyncOpenAI(base_url=f"{proxy.url}/v1", api_key=key) as client:
        raw = await client.chat.completions.with_raw_response.create(**_request(text), stream=True)
        parts = [
            chunk.choices[0].delta.content or "" async for chunk in raw.parse() if chunk.choices
        ]
        return "".join(parts), raw.headers


def _request(text: str) -> dict[str, Any]:
    return {**QUESTION, "messages": [{"role": "user", "content": text}]}


def api(proxy: Remora, key: str) -> httpx.Client:
    """The memory API as one person sees it."""
    return httpx.Client(base_url=proxy.url, headers={"Authorization": f"Bearer {key}"})


def rows(proxy: Remora, key: str, **filters: str) -> list[dict[str, Any]]:
    with api(proxy, key) as client:
        listed: list[dict[str, Any]] = client.get("/v1/memory", params=filters).json()["data"]
        return listed


def receipt(proxy: Remora, key: str, request_id: str) -> dict[str, Any]:
    """The receipt of a call, once it is there."""
    with api(proxy, key) as client:
        for _ in range(2400):  # a minute: a model may be asked first
            answer = client.get(f"/v1/memory/receipts/{request_id}")
            if answer.status_code == httpx.codes.OK:
                found: dict[str, Any] = answer.json()
                return found
            time.sleep(0.025)
    raise AssertionError(f"no receipt for {request_id}:\n{proxy.log}")
