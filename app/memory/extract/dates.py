"""Days named from where the speaker stands: "last month", "next Friday", "March 3rd". Pure.

A relative date is resolved against the turn's time (M31), never against the time of processing.
"Last" and "next" mean the nearest one before and after that day; a date without a year lies in the
past or the future as its clause does.
"""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Final

from app.memory.extract.language import DateWords

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from app.memory.extract.language import Form

_MONTHS: Final = 12
_WEEK: Final = 7


@dataclass(frozen=True, slots=True)
class Mention:
    """A date in a text: where it stands, the day it begins, and how to write it for good."""

    start: int
    end: int
    day: date
    written: str

    @property
    def at(self) -> datetime:
        """Midnight UTC of that day."""
        return datetime.combine(self.day, time(), UTC)


def mentions(text: str, at: datetime, words: DateWords, *, future: bool) -> tuple[Mention, ...]:
    """The dates of a clause in the order they stand, without overlaps."""
    found: list[Mention] = []
    for form in words.forms:
        if form.future and not future:
            continue
        for match in form.match.finditer(text):
            free = all(match.end() <= m.start or match.start() >= m.end for m in found)
            if free and _is_point(text, match, words):
                found += _mention(match, form, _Now(at.date(), future, words), text)
    return tuple(sorted(found, key=lambda mention: mention.start))


def dated(text: str, found: Sequence[Mention]) -> str:
    """The text with every date written for good."""
    for mention in reversed(found):
        text = text[: mention.start] + mention.written + text[mention.end :]
    return text


@dataclass(frozen=True, slots=True)
class _Now:
    day: date
    future: bool
    words: DateWords

    def side(self, form: Form) -> int:
        """Where to look for a date that could lie on both sides."""
        return form.sign or (1 if self.future else -1)


def _is_point(text: str, match: re.Match[str], words: DateWords) -> bool:
    before, after = words.context.get("not_before"), words.context.get("not_after")
    return not (
        (before and before.search(text[max(0, match.start() - 12) : match.start()]))
        or (after and after.search(text[match.end() : match.end() + 3]))
    )


def _mention(match: re.Match[str], form: Form, now: _Now, text: str) -> list[Mention]:
    groups = {name: value.lower() for name, value in match.groupdict().items() if value}
    try:
        resolved = _resolve(groups, form, now)
    except (ValueError, OverflowError):  # 31 February; a year beyond the calendar
        return []
    if resolved is None:
        return []
    day, unit = resolved
    written = _written(day, unit, match, groups, now.words)
    before = text[max(0, match.start() - 10) : match.start()]
    if _ends_in_preposition(before, now.words):
        head, _, bare = written.partition(" ")
        written = bare if _ends_in_preposition(f"{head} ", now.words) else written
    return [Mention(match.start(), match.end(), day, written)]


def _ends_in_preposition(text: str, words: DateWords) -> bool:
    prepositions = words.context.get("prepositions")
    return prepositions is not None and prepositions.search(text) is not None


def _resolve(groups: dict[str, str], form: Form, now: _Now) -> tuple[date, str] | None:
    """The first day meant, and how exact it is: day, week, month, season or year."""
    words = now.words
    if "iso" in groups:
        return date.fromisoformat(groups["iso"]), "given"
    if "weekday" in groups:
        return _weekday(now.day, words.weekdays[groups["weekday"]], now.side(form)), "day"
    if "season" in groups:
        return _nearest(now.day, words.seasons[groups["season"]], 1, now.side(form)), "season"
    if "month" in groups:
        return _month(groups, form, now)
    return _counted(groups, form, now)


def _counted(groups: dict[str, str], form: Form, now: _Now) -> tuple[date, str] | None:
    """A year by its number, or so many days, weeks, months or years away."""
    if "year" in groups:
        return date(int(groups["year"]), 1, 1), "given"
    unit = form.unit or _unit(groups.get("unit") or groups.get("unit2", ""), now.words)
    if unit is None:
        return None
    return _moved(now.day, unit, _amount(groups, form, now.words)), unit


def _unit(word: str, words: DateWords) -> str | None:
    return next((name for name, regex in words.units.items() if regex.fullmatch(word)), None)


def _amount(groups: dict[str, str], form: Form, words: DateWords) -> int:
    if form.shift is not None:
        return form.shift
    count = groups.get("n") or groups.get("n2")
    if count is None:
        return form.sign
    return form.sign * (int(count) if count.isdecimal() else words.numbers[count])


def _moved(day: date, unit: str, amount: int) -> date:
    if unit == "day":
        return day + timedelta(days=amount)
    if unit == "week":
        return day - timedelta(days=day.weekday()) + timedelta(weeks=amount)
    if unit == "year":
        return date(day.year + amount, 1, 1)
    months = day.year * _MONTHS + day.month - 1 + amount
    return date(months // _MONTHS, months % _MONTHS + 1, 1)


def _weekday(day: date, weekday: int, side: int) -> date:
    away = (weekday - day.weekday()) % _WEEK or _WEEK
    return day + timedelta(days=away if side > 0 else away - _WEEK or -_WEEK)


def _month(groups: dict[str, str], form: Form, now: _Now) -> tuple[date, str]:
    month, given = now.words.months[groups["month"]], groups.get("day")
    exact = "given" if "year" in groups else "no year" if given else "month"
    day = int(given) if given else 1
    if "year" in groups:
        return date(int(groups["year"]), month, day), exact
    return _nearest(now.day, month, day, now.side(form)), exact


def _nearest(day: date, month: int, of_month: int, side: int) -> date:
    """The nearest such day of the year on that side; today counts as past and as future."""
    years = range(day.year, day.year + side * 9, side)  # 29 February is at most eight years away
    for year in years:
        if of_month > calendar.monthrange(year, month)[1]:
            continue
        found = date(year, month, of_month)
        if (found >= day) if side > 0 else (found <= day):
            return found
    raise ValueError("no such day")


def _written(
    day: date, unit: str, match: re.Match[str], groups: dict[str, str], words: DateWords
) -> str:
    if unit == "given":
        return match[0]
    if unit == "no year":  # "March 3rd" stays as it was said, with its year
        return f"{match[0]}, {day.year}"
    names = words.month_names
    return words.written.get(unit, "{date}").format(
        date=day.isoformat(),
        month=names[day.month - 1] if names else day.month,
        year=day.year,
        season=groups.get("season", ""),
    )
