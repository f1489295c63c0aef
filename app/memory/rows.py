"""A memory as one flat row, as M1 names its fields: what the API shows and what stores keep.

A row is plain JSON. A stored row has a few fields more, all derived: `created_us` and `updated_us`
(integer microseconds, for exact order and comparison), `pin` (`pinned` as 0 or 1, since Edge 0.9
finds no booleans), `digest` (a keyed hash of the normalised content, which is all that a tombstone
keeps of it) and `rev` (which write it came from).
"""

from __future__ import annotations

import hashlib
import hmac
import unicodedata
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from pydantic import TypeAdapter

from app.domain import Memory, clean_text

if TYPE_CHECKING:
    from collections.abc import Iterable

Row = dict[str, Any]

PREFIX: Final = "mem_"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_OWNER: Final = ("tenant", "user", "project")
_FACT: Final = ("content", "type", "slot", "importance", "confidence", "pinned", "lang")
_ORIGIN: Final = ("created_by", "created_via", "app", "conversation_id", "source_turn", "quote")
_TIMES: Final = ("valid_from", "created_at", "updated_at", "valid_to", "superseded_at")
_LINKS: Final = ("supersedes", "derived_from", "conflicts_with")
_MEMORY: Final = TypeAdapter(Memory)


def wire_id(memory_id: UUID) -> str:
    """`mem_` and 32 hex digits: how an id looks outside the house."""
    return PREFIX + memory_id.hex


def id_of(row: Row) -> UUID:
    """The id of a row from a store."""
    return UUID(row["id"].removeprefix(PREFIX))


def parse_id(text: str) -> UUID | None:
    """The id behind `mem_…` or a plain UUID; None if it is neither."""
    try:
        return UUID(text.removeprefix(PREFIX))
    except ValueError:
        return None


def micros(moment: datetime) -> int:
    """Microseconds since 1970, exact."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def from_micros(value: int) -> datetime:
    """The moment that many microseconds after 1970."""
    return _EPOCH + timedelta(microseconds=value)


def stamp(moment: datetime) -> str:
    """RFC 3339 in UTC with a `Z`, microseconds only where there are any."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def digest(key: bytes, content: str) -> str:
    """A keyed hash (HMAC-SHA-256, 32 hex digits) of the content, blind to case and spacing."""
    folded = " ".join(unicodedata.normalize("NFKC", clean_text(content)).casefold().split())
    return hmac.new(key, folded.encode(), hashlib.sha256).hexdigest()[:32]


def to_row(memory: Memory) -> Row:
    """The flat, JSON-ready form of a memory."""
    fact, times, origin, links = memory.fact, memory.times, memory.origin, memory.links
    return {
        "id": wire_id(memory.id),
        "tenant": memory.owner.tenant,
        "user": memory.owner.user,
        "project": memory.owner.project,
        "pool": memory.pool.value,
        "app": origin.app,
        "type": fact.type.value,
        "content": fact.content,
        "slot": fact.slot,
        "state": memory.state.value,
        "pinned": fact.pinned,
        "importance": fact.importance,
        "confidence": fact.confidence,
        "valid_from": stamp(times.valid_from),
        "valid_to": _stamp_or_none(times.valid_to),
        "created_at": stamp(times.created_at),
        "updated_at": stamp(times.updated_at),
        "superseded_at": _stamp_or_none(times.superseded_at),
        "last_used_at": _stamp_or_none(memory.usage.last_at),
        "use_count": memory.usage.count,
        "created_by": origin.created_by,
        "created_via": origin.created_via.value,
        "conversation_id": origin.conversation_id,
        "source_turn": origin.source_turn,
        "quote": origin.quote,
        "supersedes": [wire_id(i) for i in links.supersedes],
        "superseded_by": wire_id(links.superseded_by) if links.superseded_by else None,
        "derived_from": [wire_id(i) for i in links.derived_from],
        "conflicts_with": [wire_id(i) for i in links.conflicts_with],
        "lang": fact.lang,
        "history": [
            {"at": stamp(e.at), "event": e.event, "by": e.by, "reason": e.reason}
            for e in memory.history
        ],
    }


def from_row(row: Row) -> Memory:
    """The memory behind a row; raises `ValueError` if it is not one, whatever is wrong with it."""
    try:
        return _MEMORY.validate_python(_nested(row))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ValueError("this is not the row of a memory") from None  # the cause shows content


def _nested(row: Row) -> dict[str, Any]:
    """The row in the shape of `Memory`; its values are still to be checked."""
    links: dict[str, Any] = {key: _uuids(row[key]) for key in _LINKS if key in row}
    successor, used = row.get("superseded_by"), row.get("last_used_at")
    return {
        "id": _uuid(row["id"]),
        "owner": _part(row, _OWNER),
        "pool": row["pool"],
        "fact": _part(row, _FACT),
        "state": row["state"],
        "times": {key: _moment(row[key]) for key in _TIMES if row.get(key) is not None},
        "origin": _part(row, _ORIGIN),
        "links": links | {"superseded_by": None if successor is None else _uuid(successor)},
        "usage": {
            "count": row.get("use_count", 0),
            "last_at": None if used is None else _moment(used),
        },
        "history": [event | {"at": _moment(event["at"])} for event in row.get("history", ())],
    }


def _part(row: Row, keys: Iterable[str]) -> Row:
    return {key: row[key] for key in keys if key in row}


def _uuid(text: str) -> UUID:
    return UUID(text.removeprefix(PREFIX))


def _uuids(texts: Iterable[str]) -> list[UUID]:
    return [_uuid(text) for text in texts]


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a time without a zone")
    return moment.astimezone(UTC)


def _stamp_or_none(moment: datetime | None) -> str | None:
    return stamp(moment) if moment else None
