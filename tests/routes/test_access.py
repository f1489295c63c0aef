from __future__ import annotations

import pytest

from app.domain import Identity, Owner, Tenant
from app.errors import RejectedError
from app.routes.access import Access
from tests.build import ALICE


def test_an_administrator_must_name_whose_memory_to_write() -> None:
    boss = Identity("acme", None, admin=True)
    named = Access(Owner("acme", "alice"), boss)
    assert (named.owner(), named.by) == (Owner("acme", "alice"), "admin")
    with pytest.raises(RejectedError) as caught:
        Access(Tenant("acme"), boss).owner()
    assert caught.value.param == "user"


def test_a_person_acts_as_themselves() -> None:
    assert Access(ALICE, Identity("acme", ALICE)).by == "alice"
