from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.domain import MemoryType, State, Where
from app.errors import RejectedError
from app.routes.filtering import as_of, where


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


@pytest.mark.requirement("M38")
@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-01", datetime(2026, 3, 1, 23, 59, 59, 999_999, tzinfo=UTC)),
        ("2026-03-01T12:00:00Z", datetime(2026, 3, 1, 12, tzinfo=UTC)),
        ("2026-03-01T12:00:00", datetime(2026, 3, 1, 12, tzinfo=UTC)),
        ("2026-03-01T12:00:00+02:00", datetime(2026, 3, 1, 10, tzinfo=UTC)),
        ("2026-03-01T12:00:00 02:00", datetime(2026, 3, 1, 10, tzinfo=UTC)),  # a + in a URL
        ("2026-03-01 12:00", datetime(2026, 3, 1, 12, tzinfo=UTC)),
    ],
)
def test_a_date_is_its_end_and_a_time_is_itself(text: str, moment: datetime) -> None:
    assert as_of(text) == moment
    assert as_of() is None


@pytest.mark.parametrize("text", ["now", "2026", "2026-13-01", "0001-01-01T00:00:00+14:00"])
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(RejectedError) as caught:
        as_of(text)
    assert (caught.value.param, caught.value.code) == ("as_of", "invalid_date")
