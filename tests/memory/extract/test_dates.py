from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.memory.extract.dates import dated, mentions
from tests.memory.extract.reading import AT, EN

PAST = [
    ("yesterday I ran", "on 2026-11-29 I ran", date(2026, 11, 29)),
    ("last night", "on 2026-11-29", date(2026, 11, 29)),
    ("the day before yesterday", "on 2026-11-28", date(2026, 11, 28)),
    ("three days ago", "on 2026-11-27", date(2026, 11, 27)),
    ("last week", "in the week of 2026-11-23", date(2026, 11, 23)),
    ("about two weeks ago", "in the week of 2026-11-16", date(2026, 11, 16)),
    ("I moved last month", "I moved in October 2026", date(2026, 10, 1)),
    ("14 months ago", "in September 2025", date(2025, 9, 1)),
    ("a year ago", "in 2025", date(2025, 1, 1)),
    ("last summer", "in summer 2026", date(2026, 6, 1)),
    ("last Monday", "on 2026-11-23", date(2026, 11, 23)),
    ("on Friday", "on 2026-11-27", date(2026, 11, 27)),
    ("in March", "in March 2026", date(2026, 3, 1)),
    ("since last month", "since October 2026", date(2026, 10, 1)),
    ("since 2019", "since 2019", date(2019, 1, 1)),
    ("on March 3rd", "on March 3rd, 2026", date(2026, 3, 3)),
    ("on 3 March 2020", "on 3 March 2020", date(2020, 3, 3)),
    ("on 2024-02-29", "on 2024-02-29", date(2024, 2, 29)),
]
FUTURE = [
    ("tomorrow morning", "on 2026-12-01", date(2026, 12, 1)),
    ("by next Friday", "by 2026-12-04", date(2026, 12, 4)),
    ("next Monday", "on 2026-12-07", date(2026, 12, 7)),
    ("in two weeks", "in the week of 2026-12-14", date(2026, 12, 14)),
    ("next month", "in December 2026", date(2026, 12, 1)),
    ("in March", "in March 2027", date(2027, 3, 1)),
    ("on February 29", "on February 29, 2028", date(2028, 2, 29)),
    ("a deadline of April 15", "a deadline of April 15, 2027", date(2027, 4, 15)),
]


@pytest.mark.requirement("M31")
@pytest.mark.parametrize(
    ("text", "written", "day", "future"),
    [(*row, False) for row in PAST] + [(*row, True) for row in FUTURE],
)
def test_dates_are_resolved_against_the_turn(
    text: str, written: str, day: date, *, future: bool
) -> None:
    found = mentions(text, AT, EN.dates, future=future)
    assert [mention.day for mention in found] == [day]
    assert dated(text, found) == written


@pytest.mark.requirement("M31")
def test_not_against_the_time_of_processing() -> None:
    (found,) = mentions("yesterday", datetime(2023, 5, 7, tzinfo=UTC), EN.dates, future=False)
    assert found.at == datetime(2023, 5, 6, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    ["next month's plan", "the last week of term", "in two weeks", "on 31 February", "the month"],
)
def test_what_is_no_date(text: str) -> None:
    assert mentions(text, AT, EN.dates, future=False) == ()


def test_several_dates_stand_in_order_and_apart() -> None:
    found = mentions("since 2019 and until last week", AT, EN.dates, future=False)
    assert [mention.day.year for mention in found] == [2019, 2026]


@given(
    st.text(alphabet="0123456789 aodyginextlsMarchFby", max_size=60),
    st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC)),  # noqa: DTZ001
    st.booleans(),
)
def test_never_raises(text: str, at: datetime, future: bool) -> None:
    dated(text, mentions(text, at, EN.dates, future=future))


@pytest.mark.parametrize("text", ["99999999 years ago", "999999999999 days ago"])
def test_days_beyond_the_calendar_are_none(text: str) -> None:
    assert mentions(text, AT, EN.dates, future=False) == ()
