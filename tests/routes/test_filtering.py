from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.domain import MemoryType, State, Where
from app.errors import RejectedError
from app.routes.filtering import where


def test_nothing_asked_is_no_filter() -> None:
    assert where() == Where()


def test_lists_are_separated_by_commas() -> None:
    asked = where(type="semantic, episodic,", state="active", slot="home_city,employer")
    assert asked.types == frozenset({MemoryType.SEMANTIC, MemoryType.EPISODIC})
    assert asked.states == frozenset({State.ACTIVE})
    assert asked.slots == frozenset({"home_city", "employer"})


def test_a_time_without_a_zone_is_utc() -> None:
    naive = datetime(2026, 1, 1)  # noqa: DTZ001 on purpose
    assert where(created_after=naive).created == (datetime(2026, 1, 1, tzinfo=UTC), None)


@pytest.mark.parametrize(
    ("given", "param"),
    [({"type": "magic"}, "type"), ({"state": "active,x"}, "state"), ({"app": ""}, "app")],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, str], param: str) -> None:
    with pytest.raises(RejectedError) as caught:
        where(**given)  # type: ignore[arg-type]
    assert (caught.value.status, caught.value.param) == (400, param)
