from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from app.ports import Reply
from app.routes import models
from app.routes.models import merged

closed: list[str] = []


async def _chunks(body: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(body), 7):
        yield body[start : start + 7]


def reply(name: str, body: bytes, status: int = 200) -> Reply:
    return Reply(status, (), _chunks(body), lambda: closed.append(name), name)


def listed(*names: str) -> bytes:
    return json.dumps({"object": "list", "data": [{"id": n, "n": 1.50} for n in names]}).encode()


async def whole(answer: Reply) -> bytes:
    return b"".join([chunk async for chunk in answer.chunks])


@pytest.mark.requirement("G18")
async def test_the_lists_of_all_upstreams_are_one() -> None:
    first = b'{"data": [ {"id":"a","n":1.50,"owner":"x"} , {"id":"b"}]}'
    answer = merged([reply("one", first), reply("two", listed("b", "c"))])
    assert answer.status == 200
    text = await whole(answer)
    assert b'{"id":"a","n":1.50,"owner":"x"}' in text
    assert [model["id"] for model in json.loads(text)["data"]] == ["a", "b", "c"]


@pytest.mark.parametrize(
    "other", [b"", b"oops", b"[]", b'{"data":7}', b'{"data":[{}]}', b'{"data":[7]}', b"[" * 100_000]
)
async def test_what_is_no_list_is_left_out(other: bytes) -> None:
    answer = merged([reply("one", other), reply("two", listed("a"))])
    assert [model["id"] for model in json.loads(await whole(answer))["data"]] == ["a"]


async def test_where_none_gives_a_list_the_first_ones_error_is_the_answer() -> None:
    closed.clear()
    answer = merged([reply("one", b"no", 401), reply("two", b"oops", 500)])
    assert (answer.status, await whole(answer), answer.upstream) == (401, b"no", "one")
    assert closed == ["two"]


async def test_an_endless_list_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "LARGEST", 100)
    answer = merged([reply("one", listed(*"abcdefghijk")), reply("two", listed("a"))])
    assert [model["id"] for model in json.loads(await whole(answer))["data"]] == ["a"]


async def test_all_are_closed() -> None:
    closed.clear()
    merged([reply("one", listed("a")), reply("two", listed("b"))]).close()
    assert closed == ["one", "two"]
