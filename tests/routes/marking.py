"""An upstream that gives markers, and a person who talks to a Remora that asks for them."""

from __future__ import annotations

import json
from typing import Any

import httpx

from app.settings import InlineSettings, LearningSettings
from tests.running import settled
from tests.scripted import (
    Answer,
    Recorded,
    completion,
    events,
    http,
    stream,
)

CHAT = "/v1/chat/completions"
SAID = "I live in Porto, my dog is called Rex, and I work as a nurse."


def fact(statement: str, quote: str) -> str:
    row = json.dumps({"statement": statement, "quote": quote})
    return f"<remora-fact>{row}</remora-fact>"


THREE = "\n".join(
    (
        fact("The user lives in Porto.", "I live in Porto"),
        fact("The user's dog is called Rex.", "my dog is called Rex"),
        fact("The user works as a nurse.", "I work as a nurse"),
    )
)
NOTHING = "<remora-fact>none</remora-fact>"
LEARNED = {
    "The user lives in Porto.",
    "The user's dog is called Rex.",
    "The user works as a nurse.",
}


def body(text: str = SAID, **fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text}], **fields}


def inline(**fields: Any) -> dict[str, Any]:
    settings = LearningSettings(extractor="inline", inline=InlineSettings(**fields))
    return {"learning": settings}


def answers(text: str, finish: str = "stop") -> Any:
    """The same answer, whole or in pieces of three characters."""

    def script(request: Recorded) -> Answer:
        if request.json().get("stream"):
            return stream(events(*(text[i : i + 3] for i in range(0, len(text), 3))))
        return http(json.dumps(completion(text, finish)).encode())

    return script


async def tell(client: httpx.AsyncClient, **fields: Any) -> tuple[httpx.Response, dict[str, Any]]:
    answer = await client.post(CHAT, json=body(**fields))
    assert answer.status_code == 200
    assert b"remora-" not in answer.content
    receipt = await settled(str(client.base_url), answer.headers["x-remora-request-id"])
    return answer, receipt


async def rows(client: httpx.AsyncClient, kind: str = "semantic") -> list[dict[str, Any]]:
    listed = await client.get("/v1/memory", params={"type": kind})
    found: list[dict[str, Any]] = listed.json()["data"]
    return found


def text_of(answer: httpx.Response) -> str:
    if not answer.headers["content-type"].startswith("text/event-stream"):
        return str(answer.json()["choices"][0]["message"]["content"])
    datas = [line[6:] for line in answer.text.split("\n") if line.startswith("data: {")]
    choices = [choice for data in datas for choice in json.loads(data)["choices"]]
    return "".join(choice["delta"].get("content") or "" for choice in choices)
