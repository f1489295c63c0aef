"""A memory as one flat row, as M1 names its fields: what the API shows and what stores keep.

A row is plain JSON. A stored row has a few fields more, all derived: `created_us` and `updated_us`
(integer microseconds, for exact order and comparison), `digest` (a keyed hash of the normalised
content, which is all that a tombstone keeps of it) and `rev` (which write it came from).
"""

from __future__ import annotations

import hashlib
import hmac
import unicodedata
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from app.domain import (
    Event,
    Fact,
    Links,
    Memory,
    MemoryType,
    Origin,
    Owner,
    Pool,
    State,
    Times,
    Usage,
    Via,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = dict[str, Any]

PREFIX: Final = "mem_"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def wire_id(memory_id: UUID) -> str:
    """`mem_` and 32 hex digits: how an id looks outside the house."""
    return PREFIX + memory_id.hex


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
    folded = " ".join(unicodedata.normalize("NFKC", content).casefold().split())
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
    """The memory behind a row; raises KeyError, ValueError or TypeError if it is not one."""
    return Memory(
        id=_uuid(row["id"]),
        owner=Owner(row["tenant"], row["user"], row["project"]),
        pool=Pool(row["pool"]),
        fact=_fact(row),
        state=State(row["state"]),
        times=_times(row),
        origin=_origin(row),
        links=_links(row),
        usage=Usage(row.get("use_count", 0), _moment_or_none(row.get("last_used_at"))),
        history=tuple(
            Event(_moment(e["at"]), e["event"], e["by"], e.get("reason"))
            for e in row.get("history", ())
        ),
    )


def _fact(row: Row) -> Fact:
    return Fact(
        content=row["content"],
        type=MemoryType(row["type"]),
        slot=row.get("slot"),
        importance=row.get("importance", 0.5),
        confidence=row.get("confidence", 0.9),
        pinned=row.get("pinned", False),
        lang=row.get("lang"),
    )


def _times(row: Row) -> Times:
    return Times(
        valid_from=_moment(row["valid_from"]),
        created_at=_moment(row["created_at"]),
        updated_at=_moment(row["updated_at"]),
        valid_to=_moment_or_none(row.get("valid_to")),
        superseded_at=_moment_or_none(row.get("superseded_at")),
    )


def _origin(row: Row) -> Origin:
    return Origin(
        created_by=row["created_by"],
        created_via=Via(row["created_via"]),
        app=row.get("app"),
        conversation_id=row.get("conversation_id"),
        source_turn=row.get("source_turn"),
        quote=row.get("quote"),
    )


def _links(row: Row) -> Links:
    successor = row.get("superseded_by")
    return Links(
        supersedes=_uuids(row.get("supersedes", ())),
        superseded_by=_uuid(successor) if successor else None,
        derived_from=_uuids(row.get("derived_from", ())),
        conflicts_with=_uuids(row.get("conflicts_with", ())),
    )


def _uuid(text: str) -> UUID:
    return UUID(text.removeprefix(PREFIX))


def _uuids(texts: Sequence[str]) -> tuple[UUID, ...]:
    return tuple(_uuid(text) for text in texts)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _moment_or_none(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _stamp_or_none(moment: datetime | None) -> str | None:
    return stamp(moment) if moment else None
