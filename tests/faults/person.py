"""A person with a client, and what Remora made of what they said."""

from __future__ import annotations

from typing import Any

import httpx

from tests.running import settled
from tests.scripted import ScriptedUpstream

Message = dict[str, Any]


def user(content: Any) -> Message:
    return {"role": "user", "content": content}


class Person:
    """Talks through one client, as the holder of one key."""

    def __init__(self, http: httpx.AsyncClient, upstream: ScriptedUpstream) -> None:
        self.http = http
        self.upstream = upstream

    async def chat(
        self, *messages: Message, headers: dict[str, str] | None = None, **fields: Any
    ) -> httpx.Response:
        body = {"model": "m", "messages": messages, **fields}
        answer = await self.http.post("/v1/chat/completions", json=body, headers=headers)
        assert answer.status_code == 200
        return answer

    async def tell(self, text: str) -> dict[str, Any]:
        """Say it, and wait until it is learned: the receipt."""
        answer = await self.chat(user(text))
        request_id = answer.headers["x-remora-request-id"]
        key = self.http.headers["authorization"].removeprefix("Bearer ")
        return await settled(str(self.http.base_url).rstrip("/"), request_id, key)

    async def ask(self, *messages: Message | str, **fields: Any) -> list[str]:
        """The memories that went upstream with these messages' last turn."""
        await self.chat(*(user(m) if isinstance(m, str) else m for m in messages), **fields)
        return lines(self.upstream.last.last_user_text)

    async def keep(self, *contents: str) -> list[str]:
        """Store these as they are; their ids."""
        made = [await self.http.post("/v1/memory", json={"content": c}) for c in contents]
        return [answer.json()["id"] for answer in made]

    async def rows(self, **params: str) -> list[dict[str, Any]]:
        found = await self.http.get("/v1/memory", params=params)
        rows: list[dict[str, Any]] = found.json()["data"]
        return rows

    async def facts(self, state: str = "active") -> list[str]:
        kept = await self.rows(state=state, type="semantic,procedural")
        return [row["content"] for row in kept]


def lines(text: str) -> list[str]:
    """The memories in a text that has a block."""
    block = text.partition("<memory>")[2]
    return [line[2:] for line in block.splitlines() if line.startswith("- ")]
