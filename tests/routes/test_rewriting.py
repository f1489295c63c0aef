"""A model rewrites what is searched for, over the wire; it says what a test wants."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest
from prometheus_client import REGISTRY
from pydantic import SecretStr
from structlog.testing import capture_logs

from app.settings import PolicySettings, RecallSettings, RewriteSettings, UpstreamSettings
from tests.routes.conftest import Serve
from tests.scripted import (
    Answer,
    Recorded,
    ScriptedUpstream,
    completion,
    http,
    scripted_upstream,
    usual,
)

MODEL = "rewriter"
OUTCOMES = ("ok", "malformed", "refused", "failed", "unreachable", "late")
FACT = "The user's dog is called Rex."
# In the hashed encoder's eyes only the second has anything to do with the fact.
LEANING, STANDALONE = "Remind me how we named him", "What is the user's dog called?"
Counted = Callable[[], dict[str, float]]


def says(text: str) -> bytes:
    return http(json.dumps(completion(text)).encode())


class Model:
    """The upstream's script: one answer to each rewrite; chats are answered as usual."""

    def __init__(self, answer: Callable[[], Answer]) -> None:
        self.answer = answer
        self.asked: list[Recorded] = []
        self.chats: list[Recorded] = []

    def __call__(self, request: Recorded) -> Answer:
        if request.json()["model"] != MODEL:
            self.chats.append(request)
            return usual(request)
        self.asked.append(request)
        return self.answer()


def on(**fields: Any) -> RecallSettings:
    return RecallSettings(rewrite=RewriteSettings(model=MODEL, **fields))


async def ask(
    client: httpx.AsyncClient, text: str = LEANING, **headers: str
) -> tuple[str, httpx.Headers]:
    """The memory status of a call, and its headers."""
    body = {"model": "chatty", "messages": [{"role": "user", "content": text}]}
    answer = await client.post("/v1/chat/completions", json=body, headers=headers)
    assert answer.status_code == 200
    return answer.headers["x-memory-status"], answer.headers


@pytest.fixture
def counted() -> Counted:
    def now() -> dict[str, float]:
        name = "remora_rewrite_total"
        return {o: REGISTRY.get_sample_value(name, {"outcome": o}) or 0.0 for o in OUTCOMES}

    before = now()
    return lambda: {o: n - before[o] for o, n in now().items() if n != before[o]}


async def started(
    serve: Serve, upstream: ScriptedUpstream, answer: Callable[[], Answer], **fields: Any
) -> tuple[httpx.AsyncClient, Model]:
    """Ana's client of a Remora that knows the fact, and the model."""
    upstream.script = model = Model(answer)
    client: httpx.AsyncClient = await serve(**({"recall": on()} | fields))
    await client.post("/v1/memory", json={"content": FACT})
    return client, model


async def test_off_by_default_nothing_more_is_sent(
    serve: Serve, upstream: ScriptedUpstream, counted: Counted
) -> None:
    client, model = await started(serve, upstream, lambda: says(STANDALONE), recall={})
    status, headers = await ask(client)
    assert status == "none"
    assert "rewrite" not in headers["server-timing"]
    assert (model.asked, len(model.chats)) == ([], 1)
    assert counted() == {}


@pytest.mark.requirement("M14")
async def test_the_rewritten_query_finds_what_the_turn_does_not(
    serve: Serve, upstream: ScriptedUpstream, counted: Counted
) -> None:
    client, model = await started(serve, upstream, lambda: says(STANDALONE))
    status, headers = await ask(client)
    assert status == "injected"
    assert "rewrite;dur=" in headers["server-timing"]
    assert model.chats[0].last_user_text.startswith(LEANING + "\n\n<memory>")
    assert STANDALONE not in model.chats[0].body.decode()
    assert f"<message>\n{LEANING}\n</message>" in model.asked[0].last_user_text
    assert counted() == {"ok": 1.0}


async def test_it_takes_longer_than_recall_may(serve: Serve, upstream: ScriptedUpstream) -> None:
    async def slowly() -> AsyncIterator[bytes]:
        await asyncio.sleep(0.5)
        yield says(STANDALONE)

    client, _ = await started(serve, upstream, slowly)
    assert RecallSettings().budget_ms < 500
    assert (await ask(client))[0] == "injected"


@pytest.mark.requirement("M12")
async def test_one_that_is_late_costs_a_second_and_no_memory(
    serve: Serve, upstream: ScriptedUpstream, counted: Counted
) -> None:
    async def endless() -> AsyncIterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
        while True:
            yield b" "
            await asyncio.sleep(0.02)

    client, model = await started(serve, upstream, endless)
    began = time.monotonic()
    status, headers = await ask(client, "What is the user's dog called?")
    assert 0.9 < time.monotonic() - began < 2
    assert status == "injected"  # recall had all of its own time
    (spent,) = [s for s in headers["server-timing"].split(", ") if s.startswith("rewrite")]
    assert 900 < float(spent.partition("dur=")[2]) < 1100
    assert counted() == {"late": 1.0}
    async with asyncio.timeout(5):
        await model.asked[0].closed.wait()


@pytest.mark.requirement("M12")
@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (http(b"down", "503 Service Unavailable"), "failed"),
        (http(b'{"error": "no"}', "401 Unauthorized"), "refused"),
        (http(b"", "307 Temporary Redirect", "Location: /v1/other"), "refused"),
        (b"garbage\r\n\r\n", "unreachable"),
        (http(b"<html>not json</html>"), "malformed"),
        (http(b"\xff" * 400_000), "malformed"),
        (says(""), "malformed"),
        (says("Well, Rex " * 100), "malformed"),
        (says("I'm sorry, I can't help with that."), "refused"),
    ],
)
async def test_on_any_trouble_the_turns_own_words_are_searched_for(
    serve: Serve, upstream: ScriptedUpstream, counted: Counted, answer: bytes, outcome: str
) -> None:
    client, model = await started(serve, upstream, lambda: answer)
    with capture_logs() as logs:
        assert (await ask(client, "What is the user's dog called?"))[0] == "injected"
    assert len(model.asked) == 1
    assert counted() == {outcome: 1.0}
    (line,) = [line for line in logs if line["event"] == "rewrite"]
    assert line["outcome"] == outcome
    metrics = (await client.get("/metrics")).text
    for private in ("Rex", "dog", "sk-ana", "sorry"):
        assert private not in str(logs) + metrics


async def test_what_needs_no_memory_asks_no_model(serve: Serve, upstream: ScriptedUpstream) -> None:
    client, model = await started(serve, upstream, lambda: says(STANDALONE))
    for wish in ("off", "write"):
        assert (await ask(client, **{"X-Memory": wish}))[0] == "skipped:client"
    assert (await ask(client, "Thanks!"))[0] == "skipped:small_talk"
    explained = {"q": LEANING, "explain": "true"}
    assert (await client.get("/v1/memory/search", params=explained)).status_code == 200
    assert model.asked == []


@pytest.mark.requirement("M10")
async def test_a_policy_decides_for_which_calls(serve: Serve, upstream: ScriptedUpstream) -> None:
    rules = (PolicySettings(rewrite=False), PolicySettings(path="*completions", rewrite=True))
    client, model = await started(serve, upstream, lambda: says(STANDALONE), policies=rules)
    assert (await ask(client))[0] == "injected"
    assert len(model.asked) == 1


@pytest.mark.requirement("M10")
async def test_a_policy_can_keep_it_from_a_call(serve: Serve, upstream: ScriptedUpstream) -> None:
    rules = (PolicySettings(model="chat*", rewrite=False),)
    client, model = await started(serve, upstream, lambda: says(STANDALONE), policies=rules)
    assert (await ask(client))[0] == "none"
    assert model.asked == []


@pytest.mark.requirement("G6")
async def test_it_asks_the_upstream_it_names_with_the_operators_key_alone(
    serve: Serve, upstream: ScriptedUpstream
) -> None:
    async with scripted_upstream() as other:
        chats = UpstreamSettings(name="chats", url=upstream.url)
        small = UpstreamSettings(
            name="small",
            url=other.url,
            models=(),
            rewrite={MODEL: "theirs"},
            key=SecretStr("sk-paid"),
        )
        other.script = lambda _: says(STANDALONE)
        client, model = await started(
            serve, upstream, lambda: b"", recall=on(upstream="small"), upstreams=(chats, small)
        )
        assert (await ask(client))[0] == "injected"
        (asked,) = other.requests
        assert asked.json()["model"] == "theirs"
        assert asked.header("authorization") == "Bearer sk-paid"
        assert b"sk-ana" not in asked.body
        assert model.asked == []
        (chat,) = model.chats
        assert chat.header("authorization") == "Bearer sk-ana"


async def test_an_upstream_that_is_away_costs_nothing(
    serve: Serve, upstream: ScriptedUpstream, counted: Counted
) -> None:
    away = UpstreamSettings(name="away", url="http://127.0.0.1:9/v1", models=())
    chats = UpstreamSettings(name="chats", url=upstream.url)
    client, _ = await started(
        serve, upstream, lambda: b"", recall=on(upstream="away"), upstreams=(chats, away)
    )
    assert (await ask(client, "What is the user's dog called?"))[0] == "injected"
    assert counted() == {"unreachable": 1.0}


@pytest.mark.requirement("G14")
async def test_a_client_that_leaves_meanwhile_ends_it(
    serve: Serve, upstream: ScriptedUpstream, counted: Counted
) -> None:
    reached = asyncio.Event()

    async def waiting() -> AsyncIterator[bytes]:
        reached.set()
        await asyncio.sleep(30)
        yield b""

    client, model = await started(serve, upstream, waiting)
    call = asyncio.create_task(ask(client))
    async with asyncio.timeout(5):
        await reached.wait()
        await asyncio.sleep(0.1)
        call.cancel()
        await model.asked[0].closed.wait()
    await asyncio.sleep(0.1)
    assert model.chats == []
    assert counted() == {}
