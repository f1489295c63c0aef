from __future__ import annotations

import httpx
import pytest

from app.domain import Identity, Owner, Tenant
from app.errors import RejectedError
from app.routes.access import Access
from tests.build import ALICE
from tests.routes.test_memories import create, listed


def test_an_administrator_must_name_whose_memory_to_write() -> None:
    boss = Identity("acme", None, admin=True)
    named = Access(Owner("acme", "alice"), boss)
    assert (named.owner(), named.by) == (Owner("acme", "alice"), "admin")
    with pytest.raises(RejectedError) as caught:
        Access(Tenant("acme"), boss).owner()
    assert caught.value.param == "user"


def test_a_person_acts_as_themselves() -> None:
    assert Access(ALICE, Identity("acme", ALICE)).by == "alice"


@pytest.mark.requirement("M39")
@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_a_misspelt_filter_selects_nothing(client: httpx.AsyncClient, method: str) -> None:
    await create(client, "The user's dog is called Rex.")
    params = {"type": "semantic", "created_befor": "2020-01-01T00:00:00Z"}
    answer = await client.request(method, "/v1/memory", params=params)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, "unknown_parameter")
    assert error["param"] == "created_befor"
    assert "created_before" in error["message"]
    assert (await listed(client))["total"] == 1
