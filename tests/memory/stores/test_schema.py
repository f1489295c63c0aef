from __future__ import annotations

from uuid import UUID

from app.memory.rows import to_row
from app.memory.stores.schema import INTEGERS, KEYWORDS, TENANTS, with_id
from tests.build import a_memory


def test_the_id_is_the_points_own() -> None:
    point = UUID(int=7)
    wire = "mem_00000000000000000000000000000007"
    assert with_id(None, point) == {"id": wire}
    assert with_id({"id": "mem_0", "a": 1}, str(point)) == {"id": wire, "a": 1}


def test_indexed_fields_are_fields_of_a_row() -> None:
    derived = {"created_us", "updated_us", "pin", "digest", "shelf"}
    derived |= {"memories", "turn", "expires_us"}  # of pins
    assert {*TENANTS, *KEYWORDS, *INTEGERS} - derived <= to_row(a_memory("")).keys()
