"""The memory API's query parameters as a `Where`."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, TypeVar

from fastapi import Query

from app.domain import MemoryType, State, Where
from app.errors import RejectedError
from app.routes.access import empty_filter

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
