"""What a person decides by the API: which side of a conflict holds, what comes back."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.routes.conftest import Serve
from tests.running import settled
from tests.scripted import ScriptedUpstream

BEN = {"Authorization": "Bearer sk-ben"}
DAY = "2026-01-01"


async def create(client: httpx.AsyncClient, content: str, **fields: Any) -> dict[str, Any]:
    answer = await client.post("/v1/memory", json={"content": content, **fields})
    assert answer.status_code == 201, answer.text
    row: dict[str, Any] = answer.json()
    return row


async def get(client: httpx.AsyncClient, row: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = (await client.get(f"/v1/memory/{row['id']}")).json()
    return found


async def active(client: httpx.AsyncClient) -> list[str]:
    page = (await client.get("/v1/memory", params={"state": "active"})).json()
    return [row["content"] for row in page["data"]]


async def decide(client: httpx.AsyncClient, row: dict[str, Any], state: str) -> dict[str, Any]:
    answer = await client.patch(f"/v1/memory/{row['id']}", json={"state": state})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def restore(client: httpx.AsyncClient, row: dict[str, Any]) -> httpx.Response:
    return await client.post(f"/v1/memory/{row['id']}/restore")


async def in_conflict(client: httpx.AsyncClient) -> tuple[dict[str, Any], dict[str, Any]]:
    given = {"slot": "home_city", "valid_from": DAY + "T00:00:00Z"}
    boston = await create(client, "The user lives in Boston.", **given)
    porto = await create(client, "The user lives in Porto.", **given)
    return await get(client, boston), await get(client, porto)


def lines(row: dict[str, Any]) -> list[tuple[str, str | None]]:
    return [(event["event"], event["reason"]) for event in row["history"]]


async def ask(client: httpx.AsyncClient, text: str) -> httpx.Response:
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    return await client.post("/v1/chat/completions", json=body)


@pytest.mark.requirement("M37")
async def test_the_older_side_waits_and_is_never_recalled(
    client: httpx.AsyncClient, upstream: ScriptedUpstream
) -> None:
    boston, porto = await in_conflict(client)
    assert (boston["state"], porto["state"]) == ("pending", "active")
    assert boston["conflicts_with"] == [porto["id"]]
    assert porto["conflicts_with"] == [boston["id"]]
    assert lines(boston) == [("created", None), ("conflict", "waits")]
    assert lines(porto) == [("created", None), ("conflict", None)]
    await ask(client, "In which city does the user live, Boston or Porto?")
    assert "The user lives in Porto." in upstream.last.last_user_text
    assert "The user lives in Boston." not in upstream.last.last_user_text


@pytest.mark.requirement("M37")
@pytest.mark.parametrize("accept", [0, 1])
async def test_a_person_accepts_one_side(client: httpx.AsyncClient, accept: int) -> None:
    sides = await in_conflict(client)
    winner = await decide(client, sides[accept], "active")
    loser = await get(client, sides[1 - accept])
    assert (winner["state"], loser["state"]) == ("active", "superseded")
    assert winner["conflicts_with"] == loser["conflicts_with"] == []
    assert (winner["supersedes"], loser["superseded_by"]) == ([loser["id"]], winner["id"])
    assert lines(winner)[-1] == ("activated", "conflict")
    assert lines(loser)[-1][0] == "superseded"
    assert winner["history"][-1]["by"] == loser["history"][-1]["by"] == winner["user"]
    assert await active(client) == [winner["content"]]


@pytest.mark.requirement("M37")
@pytest.mark.parametrize("reject", [0, 1])
async def test_a_person_rejects_one_side(client: httpx.AsyncClient, reject: int) -> None:
    sides = await in_conflict(client)
    gone = await decide(client, sides[reject], "rejected")
    other = await get(client, sides[1 - reject])
    assert (gone["state"], other["state"]) == ("rejected", "active")
    assert gone["conflicts_with"] == other["conflicts_with"] == []
    assert await active(client) == [other["content"]]


@pytest.mark.requirement("M25", "M35")
async def test_a_supersession_is_undone(client: httpx.AsyncClient) -> None:
    boston = await create(client, "The user lives in Boston.", slot="home_city")
    porto = await create(client, "The user lives in Porto.", slot="home_city")
    for _ in range(2):  # again, and the answer is the same
        answer = await restore(client, boston)
        assert answer.status_code == 200
        back = answer.json()
        assert (back["state"], back["valid_to"], back["superseded_at"]) == ("active", None, None)
        assert (back["superseded_by"], back["supersedes"]) == (None, [porto["id"]])
        assert lines(back) == [("created", None), ("superseded", None), ("restored", None)]
        assert back["history"][-1]["by"] == back["user"]
    ended = await get(client, porto)
    assert (ended["state"], ended["superseded_by"], ended["supersedes"]) == (
        "superseded",
        boston["id"],
        [],
    )
    assert lines(ended) == [("created", None), ("superseded", "restored")]
    assert ended["history"][-1]["by"] == back["user"]
    assert await active(client) == ["The user lives in Boston."]


@pytest.mark.requirement("M25")
async def test_with_the_successor_its_pins_go(
    client: httpx.AsyncClient, upstream: ScriptedUpstream
) -> None:
    boston = await create(client, "The user lives in Boston.", slot="home_city")
    await create(client, "The user lives in Porto.", slot="home_city")
    question = {"role": "user", "content": "In which city does the user live?"}
    await client.post("/v1/chat/completions", json={"model": "m", "messages": [question]})
    assert "Porto" in upstream.last.last_user_text
    await restore(client, boston)
    history = [question, {"role": "assistant", "content": "Noted."}]
    history.append({"role": "user", "content": "And in which city does the user live now?"})
    await client.post("/v1/chat/completions", json={"model": "m", "messages": history})
    sent = upstream.last.body.decode()
    assert "lives in Porto" not in sent
    assert "lives in Boston" in sent


@pytest.mark.requirement("M35")
async def test_only_what_was_superseded_comes_back(client: httpx.AsyncClient) -> None:
    row = await create(client, "The user likes tea.")
    await decide(client, row, "rejected")
    answer = await restore(client, row)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "not_superseded")
    assert answer.json()["error"]["type"] == "invalid_request_error"
    theirs = await client.post(f"/v1/memory/{row['id']}/restore", headers=BEN)
    await client.delete(f"/v1/memory/{row['id']}")
    for gone in (theirs, await restore(client, row), await restore(client, {"id": "mem_x"})):
        assert (gone.status_code, gone.json()["error"]["code"]) == (404, "memory_not_found")


@pytest.mark.requirement("M35")
async def test_there_is_one_way_back(client: httpx.AsyncClient) -> None:
    boston = await create(client, "The user lives in Boston.", slot="home_city")
    await create(client, "The user lives in Porto.", slot="home_city")
    answer = await client.patch(f"/v1/memory/{boston['id']}", json={"state": "active"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "superseded")
    assert await active(client) == ["The user lives in Porto."]


@pytest.mark.requirement("M1")
async def test_every_change_leaves_one_line(client: httpx.AsyncClient) -> None:
    row = await create(client, "The user likes tea.")
    await create(client, "The user likes tea!")
    await client.patch(f"/v1/memory/{row['id']}", json={"importance": 0.9})
    await decide(client, row, "rejected")
    await client.patch(f"/v1/memory/{row['id']}", json={"state": "active", "pinned": True})
    assert lines(await get(client, row)) == [
        ("created", None),
        ("reinforced", None),
        ("corrected", None),
        ("rejected", None),
        ("activated", "corrected"),
    ]


@pytest.mark.requirement("M35")
async def test_an_old_record_is_kept_as_history(client: httpx.AsyncClient) -> None:
    porto = await create(client, "The user lives in Porto.", slot="home_city")
    old = {"slot": "home_city", "valid_from": "2020-05-01T00:00:00Z"}
    boston = await create(client, "The user lives in Boston.", **old)
    assert (boston["state"], boston["superseded_by"]) == ("superseded", porto["id"])
    assert await active(client) == ["The user lives in Porto."]


@pytest.mark.requirement("M38")
async def test_what_was_believed_on_a_day(client: httpx.AsyncClient) -> None:
    boston = await create(client, "The user lives in Boston.", slot="home_city")
    porto = await create(client, "The user lives in Porto.", slot="home_city")
    tea = await create(client, "The user likes tea.")
    await client.delete(f"/v1/memory/{tea['id']}")
    for moment, contents in (
        ("2020-01-01", []),
        (boston["created_at"], ["The user lives in Boston."]),
        (porto["created_at"].replace("Z", "+00:00"), None),
        (porto["created_at"][:10], ["The user lives in Porto."]),
        ("2100-01-01T00:00:00+02:00", ["The user lives in Porto."]),
    ):
        found = (await client.get("/v1/memory", params={"as_of": moment})).json()
        asked = {"as_of": moment, "q": "Where does the user live? tea"}
        hits = (await client.get("/v1/memory/search", params=asked)).json()
        for answer in (found, hits):
            if contents is not None:
                assert [row["content"] for row in answer["data"]] == contents, moment
    one = {"as_of": "2100-01-01", "type": "episodic"}
    assert (await client.get("/v1/memory", params=one)).json()["total"] == 0


@pytest.mark.requirement("M38")
@pytest.mark.parametrize("path", ["/v1/memory", "/v1/memory/search?q=x"])
@pytest.mark.parametrize(
    ("given", "param", "code"),
    [
        ({"as_of": "yesterday"}, "as_of", "invalid_date"),
        ({"as_of": "2026-02-30"}, "as_of", "invalid_date"),
        ({"as_of": ""}, "as_of", "empty_filter"),
        ({"as_of": DAY, "state": "active"}, "state", "invalid_filter"),
    ],
)
async def test_a_day_that_is_none_is_an_error(
    client: httpx.AsyncClient, path: str, given: dict[str, str], param: str, code: str
) -> None:
    answer = await client.get(path, params=httpx.URL(path).params.merge(given))
    error = answer.json()["error"]
    assert (answer.status_code, error["param"], error["code"]) == (400, param, code)
    assert error["type"] == "invalid_request_error"


@pytest.mark.requirement("M38", "M39")
async def test_nothing_is_forgotten_by_a_day(client: httpx.AsyncClient) -> None:
    await create(client, "The user likes tea.")
    answer = await client.delete("/v1/memory", params={"as_of": "2100-01-01"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "unknown_parameter")


@pytest.mark.requirement("M27", "M34")
async def test_past_the_days_facts_the_receipt_says_blocked(serve: Serve) -> None:
    client = await serve(learning={"max_facts_per_day": 1})
    for _ in range(3):  # what people write themselves is not counted
        await create(client, "The user owns a boat.")
    outcomes = []
    for text in ("I live in Porto.", "My dog is called Rex."):
        answer = await ask(client, text)
        request_id = answer.headers["x-remora-request-id"]
        receipt = await settled(str(client.base_url).rstrip("/"), request_id)
        outcomes.append((receipt["outcome"], receipt["blocked"]))
    assert outcomes == [("stored", []), ("blocked", ["too_many_today"])]
    assert "The user lives in Porto." in await active(client)
    await create(client, "The user's dog is called Rex.")


@pytest.mark.requirement("M34")
async def test_rows_are_bounded_for_people_too(serve: Serve) -> None:
    client = await serve(learning={"max_rows": 2})
    await create(client, "The user owns a boat.", pinned=True)
    for name in ("Porto", "Oslo"):
        await create(client, f"The user has been to {name}.")
    assert await active(client) == ["The user has been to Oslo.", "The user owns a boat."]
    await create(client, "The user likes tea.", pinned=True)
    full = await client.post("/v1/memory", json={"content": "The user likes jazz."})
    assert (full.status_code, full.json()["error"]["code"]) == (409, "memory_full")
    assert await active(client) == ["The user likes tea.", "The user owns a boat."]
