"""A model for the llm extractor that says what a test wants, and a person who talks."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
from prometheus_client import REGISTRY

from tests.running import settled
from tests.scripted import (
    Answer,
    Recorded,
    completion,
    http,
    usual,
)

MODEL = "learner"
Start = Callable[..., Any]
Counted = Callable[[], dict[str, float]]
BAD = http(json.dumps(completion("I would rather chat.")).encode())


def said(*actions: dict[str, Any]) -> bytes:
    """A model's answer with these actions."""
    return http(json.dumps(completion(json.dumps({"actions": actions}))).encode())


def action(kind: str, statement: str, quote: str, **more: Any) -> dict[str, Any]:
    row = {"action": kind, "id": None, "statement": statement, "type": "semantic", "slot": None}
    return row | {"quote": quote, "confidence": 0.9} | more


class Learner:
    """The upstream's script: `answers` to the extractor; chats are answered as usual."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[Recorded] = []

    def __call__(self, request: Recorded) -> Answer:
        if request.json()["model"] != MODEL:
            return usual(request)
        self.asked.append(request)
        return self.answers.pop(0) if self.answers else said()

    def prompt(self, place: int = -1) -> str:
        return self.asked[place].last_user_text


async def about(learner: Learner, word: str, row: dict[str, Any]) -> AsyncIterator[bytes]:
    """An answer about the memory that was shown with that word, by its short id."""
    (name,) = re.findall(rf"(?m)^(m\d).*: .*{word}", learner.prompt())
    yield said(row | {"id": name})


class Ana:
    """One person's client of a Remora."""

    def __init__(self, client: httpx.AsyncClient, url: str) -> None:
        self.client = client
        self.url = url

    async def chat(self, text: str, model: str = "chatty") -> httpx.Response:
        body = {"model": model, "messages": [{"role": "user", "content": text}]}
        answer = await self.client.post("/v1/chat/completions", json=body)
        assert answer.status_code == 200
        return answer

    async def tell(self, text: str, model: str = "chatty") -> dict[str, Any]:
        """Say it, and wait until it is learned."""
        answer = await self.chat(text, model)
        return await settled(self.url, answer.headers["x-remora-request-id"])

    async def facts(self, state: str = "active") -> dict[str, dict[str, Any]]:
        params = {"state": state, "type": "semantic,procedural"}
        listed = await self.client.get("/v1/memory", params=params)
        return {row["content"]: row for row in listed.json()["data"]}


def count(outcome: str) -> float:
    labels = {"extractor": "llm", "outcome": outcome}
    return REGISTRY.get_sample_value("remora_extractor_total", labels) or 0.0
