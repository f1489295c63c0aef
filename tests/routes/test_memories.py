from __future__ import annotations

from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from app.identity import KeyRing, new_key
from app.settings import Principal
from tests.conftest import MakeSettings
from tests.routes.conftest import Serve

BOSS = {"Authorization": "Bearer boss"}
BEN = {"Authorization": "Bearer sk-ben"}


async def create(client: httpx.AsyncClient, content: str, **fields: Any) -> dict[str, Any]:
    answer = await client.post("/v1/memory", json={"content": content, **fields})
    assert answer.status_code == 201, answer.text
    row: dict[str, Any] = answer.json()
    return row


async def listed(client: httpx.AsyncClient, **params: Any) -> dict[str, Any]:
    page: dict[str, Any] = (await client.get("/v1/memory", params=params)).json()
    return page


@pytest.mark.requirement("M1")
async def test_a_row_has_the_shape_of_the_example(client: httpx.AsyncClient) -> None:
    row = await create(client, "The user's dog is called Rex.", slot="pet.dog.name")
    expected = {
        "object": "memory",
        "type": "semantic",
        "content": "The user's dog is called Rex.",
        "slot": "pet.dog.name",
        "state": "active",
        "pinned": False,
        "pool": "user",
        "project": None,
        "app": None,
        "importance": 0.5,
        "valid_to": None,
        "created_via": "api",
        "conversation_id": None,
        "quote": None,
        "supersedes": [],
        "superseded_by": None,
        "derived_from": [],
        "use_count": 0,
        "last_used_at": None,
    }
    assert {name: row[name] for name in expected} == expected
    assert row["id"].startswith("mem_")
    assert row["user"] == row["created_by"]
    assert row["user"].startswith("u_")
    assert all(row[name].endswith("Z") for name in ("valid_from", "created_at", "updated_at"))
    assert (await client.get(f"/v1/memory/{row['id']}")).json() == row


async def test_lists_page_as_openais_do(client: httpx.AsyncClient) -> None:
    made = [await create(client, f"The user owns boat {n}.") for n in range(5)]
    ids = [row["id"] for row in reversed(made)]
    first = await listed(client, limit=2)
    assert (first["object"], first["total"], first["has_more"]) == ("list", 5, True)
    assert (first["first_id"], first["last_id"]) == (ids[0], ids[1])
    second = await listed(client, limit=2, after=first["last_id"])
    last = await listed(client, limit=2, after=second["last_id"])
    assert [row["id"] for page in (first, second, last) for row in page["data"]] == ids
    assert last["has_more"] is False
    assert (await listed(client, after=ids[-1]))["first_id"] is None


async def test_filters_narrow_a_list(client: httpx.AsyncClient) -> None:
    await create(client, "Answer in French.", type="procedural", pinned=True)
    await create(client, "The user lives in Lisbon.", slot="home_city")
    await create(client, "The user lives in Porto.", slot="home_city")
    for params, contents in (
        ({"type": "procedural"}, ["Answer in French."]),
        ({"pinned": "true"}, ["Answer in French."]),
        ({"slot": "home_city", "state": "active"}, ["The user lives in Porto."]),
        ({"state": "superseded"}, ["The user lives in Lisbon."]),
        ({"type": "episodic"}, []),
        ({"created_after": "2100-01-01"}, []),
    ):
        page = await listed(client, **params)
        assert [row["content"] for row in page["data"]] == contents, params


@pytest.mark.requirement("M39")
@pytest.mark.parametrize("name", ["type", "state", "slot", "app", "project", "conversation_id"])
@pytest.mark.parametrize("value", ["", ","])
@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_a_filter_that_is_given_but_empty_is_an_error(
    client: httpx.AsyncClient, name: str, value: str, method: str
) -> None:
    if value == "," and name not in {"type", "state", "slot"}:
        return
    await create(client, "The user likes tea.")
    answer = await client.request(method, "/v1/memory", params={name: value})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (400, "empty_filter", name)
    assert (await listed(client))["total"] == 1


@pytest.mark.requirement("M39")
async def test_delete_by_id_is_idempotent_and_the_row_is_gone(client: httpx.AsyncClient) -> None:
    row, other = await create(client, "The user likes tea."), await create(client, "A B C")
    for _ in range(2):
        answer = await client.delete(f"/v1/memory/{row['id']}")
        assert answer.status_code == 200
        assert answer.json() == {"id": row["id"], "object": "memory.deleted", "deleted": True}
    assert (await client.get(f"/v1/memory/{row['id']}")).status_code == 404
    assert [r["id"] for r in (await listed(client))["data"]] == [other["id"]]
    found = await client.get("/v1/memory/search", params={"q": "likes tea"})
    assert row["id"] not in [r["id"] for r in found.json()["data"]]


@pytest.mark.requirement("M39")
async def test_delete_by_scope_answers_how_many(client: httpx.AsyncClient) -> None:
    for n in range(3):
        await create(client, f"Rule {n}.", type="procedural")
    await create(client, "The user likes tea.")
    for deleted in (3, 0):
        answer = await client.delete("/v1/memory", params={"type": "procedural"})
        assert answer.json() == {"object": "memory.deleted", "deleted": deleted}
    assert (await client.delete("/v1/memory")).json()["error"]["code"] == "empty_filter"
    assert (await client.delete("/v1/memory", params={"all": "true"})).json()["deleted"] == 1
    assert (await listed(client))["total"] == 0


@pytest.mark.requirement("M9")
async def test_nobody_sees_or_touches_anothers_rows(client: httpx.AsyncClient) -> None:
    mine = await create(client, "The user likes tea.")
    path = f"/v1/memory/{mine['id']}"
    assert (await client.get(path, headers=BEN)).status_code == 404
    assert (await client.patch(path, json={"pinned": True}, headers=BEN)).status_code == 404
    assert (await client.delete(path, headers=BEN)).status_code == 404
    assert (await client.get("/v1/memory", headers=BEN)).json()["total"] == 0
    gone = await client.delete("/v1/memory", params={"all": "true"}, headers=BEN)
    assert gone.json()["deleted"] == 0
    named = await client.get("/v1/memory", params={"user": mine["user"]}, headers=BEN)
    assert (named.status_code, named.json()["error"]["code"]) == (403, "forbidden")
    assert (await client.get(path)).json()["content"] == "The user likes tea."


async def test_an_administrator_sees_and_deletes_anyones(serve: Serve) -> None:
    client = await serve(admin_key=SecretStr("boss"))
    mine = await create(client, "The user likes tea.")
    theirs = (await client.post("/v1/memory", json={"content": "x y z"}, headers=BEN)).json()
    everyone = (await client.get("/v1/memory", headers=BOSS)).json()
    assert everyone["total"] == 2
    one = await client.get("/v1/memory", params={"user": mine["user"]}, headers=BOSS)
    assert [row["id"] for row in one.json()["data"]] == [mine["id"]]
    elsewhere = await client.get("/v1/memory", params={"tenant": "other"}, headers=BOSS)
    assert elsewhere.json()["total"] == 0
    assert (await client.delete(f"/v1/memory/{theirs['id']}", headers=BOSS)).status_code == 200
    gone = {"user": mine["user"], "all": "true"}
    assert (await client.delete("/v1/memory", params=gone, headers=BOSS)).json()["deleted"] == 1
    nobody = await client.post("/v1/memory", json={"content": "x"}, headers=BOSS)
    assert (nobody.status_code, nobody.json()["error"]["code"]) == (400, "missing_user")


async def test_a_correction_changes_what_is_given_and_is_found_by_it(
    client: httpx.AsyncClient,
) -> None:
    row = await create(client, "The user's dog is called Rex.", slot="pet.dog.name")
    path = f"/v1/memory/{row['id']}"
    changed = {"content": "The user's cat is called Tom.", "slot": None, "importance": 0.9}
    after = (await client.patch(path, json=changed)).json()
    assert {name: after[name] for name in changed} == changed
    assert after["type"] == "semantic"
    assert [event["event"] for event in after["history"]] == ["created", "corrected"]
    assert after["updated_at"] > row["updated_at"]
    found = await client.get("/v1/memory/search", params={"q": "cat Tom"})
    assert found.json()["data"][0]["id"] == row["id"]
    assert found.json()["data"][0]["scores"]["bm25"] > 0
    rejected = (await client.patch(path, json={"state": "rejected"})).json()
    assert rejected["state"] == "rejected"
    found = await client.get("/v1/memory/search", params={"q": "cat Tom"})
    assert found.json()["data"] == []
    known = await client.post("/v1/memory", json={"content": "The user's cat is called Tom."})
    assert (known.status_code, known.json()["error"]["code"]) == (409, "rejected_before")


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "content"),
        ({"content": ""}, "content"),
        ({"content": " \n"}, "content"),
        ({"content": 4}, "content"),
        ({"content": "x", "type": "magic"}, "type"),
        ({"content": "x", "importance": 2}, "importance"),
        ({"content": "x", "unknown": 1}, "unknown"),
        ({"content": "x", "pool": "project"}, "pool"),
    ],
)
async def test_bad_bodies_are_told_what_is_wrong(
    client: httpx.AsyncClient, body: dict[str, Any], param: str
) -> None:
    answer = await client.post("/v1/memory", json=body)
    error = answer.json()["error"]
    assert (answer.status_code, error["param"]) == (400, param)
    assert set(error) == {"message", "type", "param", "code"}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/memory/mem_nothing", 404),
        ("GET", "/v1/memory/mem_0193000000007000a000000000000000", 404),
        ("DELETE", "/v1/memory/mem_0193000000007000a000000000000000", 404),
        ("GET", "/v1/memory?limit=0", 400),
        ("GET", "/v1/memory?limit=many", 400),
        ("GET", "/v1/memory?after=mem_0193000000007000a000000000000000", 400),
        ("GET", "/v1/memory?after=x", 400),
        ("GET", "/v1/memory?state=magic", 400),
        ("GET", "/v1/memory?created_after=yesterday", 400),
        ("GET", "/v1/memory/search", 400),
        ("GET", "/v1/memory/receipts/req_1", 404),
        ("PUT", "/v1/memory", 405),
        ("GET", "/nowhere", 404),
    ],
)
async def test_every_error_has_openais_shape(
    client: httpx.AsyncClient, method: str, path: str, status: int
) -> None:
    answer = await client.request(method, path)
    assert answer.status_code == status
    assert set(answer.json()["error"]) == {"message", "type", "param", "code"}


async def test_without_a_key_nothing_is_shown(client: httpx.AsyncClient) -> None:
    client.headers.pop("authorization")
    for method, path in (("GET", "/v1/memory"), ("DELETE", "/v1/memory?all=true")):
        answer = await client.request(method, path)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")


@pytest.mark.requirement("M8")
@pytest.mark.parametrize("user", ["auth0|x", "a+b@c.io", "😀", "狗" * 256, "a b&c=d/e?f#g%h"])
async def test_any_user_id_works_in_the_admin_api(
    serve: Serve, make_settings: MakeSettings, user: str
) -> None:
    ring = KeyRing(make_settings().data_dir / "keys.json")
    key, stored = new_key(Principal(multi_user=True))
    ring.add(stored)
    client = await serve(admin_key=SecretStr("boss"))
    as_user = {"Authorization": f"Bearer {key}", "X-Memory-User": user.encode()}
    made = await client.post("/v1/memory", json={"content": "The user likes tea."}, headers=as_user)
    assert made.json()["user"] == user
    assert (await client.get("/v1/memory", headers=as_user)).json()["total"] == 1
    seen = await client.get("/v1/memory", params={"user": user}, headers=BOSS)
    assert seen.json()["total"] == 1
    gone = await client.delete("/v1/memory", params={"user": user, "all": "true"}, headers=BOSS)
    assert gone.json()["deleted"] == 1


@pytest.mark.requirement("M9")
async def test_a_project_shares_its_pool_and_nothing_else(
    serve: Serve, make_settings: MakeSettings
) -> None:
    ring = KeyRing(make_settings().data_dir / "keys.json")
    heads = {}
    for user, project in (("ana", "apollo"), ("ben", "apollo"), ("cy", "zeus")):
        key, stored = new_key(Principal(user=user, project=project))
        ring.add(stored)
        heads[user] = {"Authorization": f"Bearer {key}"}
    client = await serve()
    for pool in ("user", "project"):
        body = {"content": f"The {pool} uses pnpm.", "pool": pool}
        await client.post("/v1/memory", json=body, headers=heads["ana"])
    totals = {
        user: (await client.get("/v1/memory", headers=head)).json()["total"]
        for user, head in heads.items()
    }
    assert totals == {"ana": 2, "ben": 1, "cy": 0}
