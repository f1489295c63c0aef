"""The memory API's query parameters as a `Where`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from enum import StrEnum
from typing import Annotated, Final, TypeVar

from fastapi import Query

from app.domain import MemoryType, State, Where
from app.errors import RejectedError
from app.routes.access import empty_filter

_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_OFFSET: Final = re.compile(r" (?=\d{2}:\d{2}$)", re.ASCII)
E = TypeVar("E", bound=StrEnum)


def where(  # noqa: PLR0913, PLR0917 one parameter for each filter
    type: Annotated[str | None, Query(description="semantic,procedural,episodic")] = None,  # noqa: A002 the wire's name
    state: Annotated[str | None, Query(description="active,pending,superseded,…")] = None,
    slot: Annotated[str | None, Query(description="home_city,employer,…")] = None,
    project: Annotated[str | None, Query()] = None,
    app: Annotated[str | None, Query()] = None,
    conversation_id: Annotated[str | None, Query()] = None,
    pinned: Annotated[bool | None, Query()] = None,
    created_after: Annotated[datetime | None, Query(description="RFC 3339")] = None,
    created_before: Annotated[datetime | None, Query(description="RFC 3339")] = None,
) -> Where:
    """FastAPI dependency: what was asked for; raises `RejectedError` (400) for an empty filter."""
    for name, value in (("app", app), ("project", project), ("conversation_id", conversation_id)):
        if value == "":
            raise empty_filter(name)
    span = (_aware(created_after), _aware(created_before))
    return Where(
        states=_members("state", state, State),
        types=_members("type", type, MemoryType),
        slots=_parts("slot", slot),
        project=project,
        app=app,
        conversation_id=conversation_id,
        pinned=pinned,
        created=None if span == (None, None) else span,
    )


@dataclass(frozen=True, slots=True)
class Question:
    """What is searched for; `explain`: as a call that asks it would be answered."""

    q: str = field(repr=False)
    explain: bool = False


def question(
    q: Annotated[str, Query(min_length=1)],
    explain: Annotated[  # noqa: FBT002 a query parameter
        bool, Query(description="What a call would recall, and why not the rest.")
    ] = False,
) -> Question:
    """FastAPI dependency: the question of a search."""
    return Question(q, explain)


def as_of(
    as_of: Annotated[
        str | None, Query(description="What was held true then: a date (its end, UTC) or a time.")
    ] = None,
    state: Annotated[str | None, Query(description="Not together with `as_of`.")] = None,
) -> datetime | None:
    """FastAPI dependency: the moment that is asked about; raises `RejectedError` (400)."""
    if as_of is None:
        return None
    if as_of == "":
        raise empty_filter("as_of")
    if state is not None:
        message = "'as_of' says itself which states count: leave 'state' out."
        raise RejectedError(400, message, param="state", code="invalid_filter")
    try:
        return _moment(as_of)
    except (ValueError, OverflowError):
        message = "'as_of' takes a date or a time: 2026-03-01 or 2026-03-01T12:00:00Z."
        raise RejectedError(400, message, param="as_of", code="invalid_date") from None


def _moment(text: str) -> datetime:
    """A date is its last moment in UTC; in a time's offset a `+` may have come as a space."""
    if _DATE.fullmatch(text):
        return datetime.combine(date.fromisoformat(text), time.max, UTC)
    moment = datetime.fromisoformat(_OFFSET.sub("+", text) if "T" in text else text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)


def _parts(name: str, text: str | None) -> frozenset[str] | None:
    if text is None:
        return None
    parts = frozenset(part.strip() for part in text.split(",")) - {""}
    if not parts:
        raise empty_filter(name)
    return parts


def _members(name: str, text: str | None, kind: type[E]) -> frozenset[E] | None:
    parts = _parts(name, text)
    if parts is None:
        return None
    try:
        return frozenset(kind(part) for part in parts)
    except ValueError:
        allowed = ", ".join(kind)
        raise RejectedError(
            400, f"'{name}' takes: {allowed}.", param=name, code="invalid_filter"
        ) from None


def _aware(moment: datetime | None) -> datetime | None:
    """A time without a zone is UTC."""
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment
