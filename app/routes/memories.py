"""`/v1/memory`: see, search, write, correct and delete what is remembered."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

import uuid_utils.compat
from fastapi import APIRouter, Depends, Query

from app.domain import (
    Event,
    Fact,
    Memory,
    Origin,
    Pool,
    State,
    Times,
    Via,
    Where,
    utc_now,
)
from app.errors import RejectedError
from app.memory.history import CORRECTED, created
from app.memory.rows import parse_id, stamp, to_row, wire_id
from app.routes.access import DEPENDENCIES, Access, access
from app.routes.bodies import NewMemory, Patch, corrected
from app.routes.filtering import Question, as_of, question, where
from app.routes.services import MemoryServices, memory_services

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from app.domain import Owner

router: Final = APIRouter(prefix="/v1/memory", tags=["memory"], dependencies=DEPENDENCIES)
Who = Annotated[Access, Depends(access)]
Parts = Annotated[MemoryServices, Depends(memory_services)]
Asked = Annotated[Where, Depends(where)]
Then = Annotated[datetime | None, Depends(as_of)]
Wanted = Annotated[Question, Depends(question)]
Limit = Annotated[int, Query(ge=1, le=100)]
_EVERY_STATE: Final = frozenset(State)
EVERYTHING: Final = Where(states=_EVERY_STATE - {State.FORGOTTEN})


@router.get("")
async def list_memories(
    who: Who,
    parts: Parts,
    asked: Asked,
    then: Then,
    limit: Limit = 20,
    after: str | None = None,
) -> dict[str, Any]:
    """A page of memories, newest first; with `as_of`, of those that were held true then."""
    cursor = _id(after, "after") if after is not None else None
    try:
        found = await parts.store.find(who.scope, asked, limit=limit, after=cursor, as_of=then)
    except LookupError:
        raise RejectedError(
            400, "'after' names no memory of yours.", param="after", code="invalid_cursor"
        ) from None
    rows = [_shown(memory) for memory in found.memories]
    return {
        "object": "list",
        "total": found.total,
        "has_more": found.has_more,
        "first_id": rows[0]["id"] if rows else None,
        "last_id": rows[-1]["id"] if rows else None,
        "data": rows,
    }


@router.post("", status_code=201)
async def create_memory(who: Who, parts: Parts, body: NewMemory) -> dict[str, Any]:
    """Remember a statement; one that is known already is reinforced instead."""
    owner, now = who.owner(), utc_now()
    if body.pool is Pool.PROJECT and owner.project is None:
        raise RejectedError(
            400, "This key belongs to no project.", param="pool", code="missing_project"
        )
    memory = Memory(
        id=uuid_utils.compat.uuid7(),
        owner=owner,
        pool=body.pool,
        fact=Fact(body.content, body.type, body.slot, body.importance, 1.0, body.pinned),
        state=State.ACTIVE,
        times=Times(body.valid_from or now, created_at=now, updated_at=now, valid_to=body.valid_to),
        origin=Origin(created_by=who.by, created_via=Via.API, app=who.identity.app),
        history=created(now, who.by),
    )
    if not await parts.quota.rows(owner, body.pool, 1):
        raise RejectedError(
            409, "Memory is full, and nothing in it may make room: delete some.", code="memory_full"
        )
    row = await parts.rememberer.remember(owner, memory)
    if row is None:
        raise RejectedError(
            409,
            "This was rejected before: set that memory's state to active instead.",
            code="rejected_before",
        )
    return _shown(row)


@router.delete("")
async def forget_scope(
    who: Who,
    parts: Parts,
    asked: Asked,
    *,
    all: bool = False,  # noqa: A002 the wire's name
) -> dict[str, Any]:
    """Forget whatever matches; `all=true` forgets everything. Without a filter: 400."""
    if not asked.selective and not all:
        raise RejectedError(400, "Say what to forget: a filter, or all=true.", code="empty_filter")
    async with parts.worker.pause:  # a turn that is being learned would come back behind it
        if all:
            await parts.spool.forget(who.scope)
        target = asked if asked.selective else EVERYTHING
        gone = await parts.store.forget(who.scope, target, utc_now())
    return {"object": "memory.deleted", "deleted": len(gone)}


@router.get("/search")
async def search_memories(
    who: Who, parts: Parts, asked: Asked, then: Then, wanted: Wanted, limit: Limit = 10
) -> dict[str, Any]:
    """The nearest memories with their scores, best first; no gate.

    With `explain=true`: what a call that asks `q` would recall. Every candidate has its scores, and
    the rule of the gate that kept it out, if any.
    """
    if wanted.explain:
        plain = then is None and asked == Where()
        return await _explained(parts, who.owner(), wanted.q, plain=plain)
    if then is None:
        asked = replace(asked, states=asked.states or frozenset({State.ACTIVE}))
    vectors = await parts.embed.query(wanted.q)
    found = await parts.store.search(who.owner(), vectors, asked, limit, as_of=then)
    rows = [_shown(c.memory) | {"scores": _rounded(c.scores)} for c in found]
    return {"object": "list", "data": rows}


async def _explained(
    parts: MemoryServices, owner: Owner, question: str, *, plain: bool
) -> dict[str, Any]:
    if not plain:
        message = "explain=true asks what a call would recall: it takes no filters and no as_of."
        raise RejectedError(400, message, param="explain", code="invalid_filter")
    rows = [
        _shown(verdict.memory)
        | {"scores": _rounded(verdict.scores)}
        | {"admitted": verdict.reason is None, "reason": verdict.reason}
        for verdict in await parts.explain(owner, question)
    ]
    return {"object": "list", "data": rows}


def _rounded(scores: Mapping[str, float]) -> dict[str, float]:
    return {name: round(score, 4) for name, score in scores.items()}


@router.get("/receipts/{turn_id}")
async def get_receipt(turn_id: str, who: Who, parts: Parts) -> dict[str, Any]:
    """How the turn of a call ended."""
    receipt = await parts.spool.receipt(who.scope, turn_id)
    if receipt is None:
        message = "No receipt (yet): the call is not done, or was not to be learned from."
        raise RejectedError(404, message, code="receipt_not_found")
    return {
        "object": "memory.receipt",
        "id": receipt.id,
        "outcome": receipt.outcome,
        "memories": [wire_id(memory_id) for memory_id in receipt.memories],
        "blocked": list(receipt.blocked),
        "at": stamp(receipt.at),
    }


@router.get("/{memory_id}")
async def get_memory(memory_id: str, who: Who, parts: Parts) -> dict[str, Any]:
    """One memory, in whatever state but forgotten."""
    return _shown(await _found(parts, who, _known_id(memory_id)))


@router.patch("/{memory_id}")
async def correct_memory(memory_id: str, who: Who, parts: Parts, body: Patch) -> dict[str, Any]:
    """Correct a memory; what is not given stays."""
    memory = await _found(parts, who, _known_id(memory_id))
    if body.state == "active" and memory.state is State.SUPERSEDED:
        message = "It was superseded: POST to its /restore, which also ends its successor."
        raise RejectedError(409, message, param="state", code="superseded")
    changed = corrected(memory, body, Event(utc_now(), CORRECTED, who.by))
    vectors = None
    if changed.fact.content != memory.fact.content:
        (vectors,) = await parts.embed.documents([changed.fact.content])
    if not await parts.reviser.correct(memory, changed, vectors):
        raise RejectedError(409, "The memory changed meanwhile: read it again.", code="conflict")
    return _shown(await _found(parts, who, memory.id))


@router.post("/{memory_id}/restore")
async def restore_memory(memory_id: str, who: Who, parts: Parts) -> dict[str, Any]:
    """Undo a supersession: it is active again, what had superseded it is superseded by it.

    Again, and the answer is the same.
    """
    memory = await _found(parts, who, _known_id(memory_id))
    restored = await parts.reviser.restore(memory, who.by)
    if restored is None:
        raise RejectedError(
            409, "Only what was superseded or taken back can be restored.", code="not_superseded"
        )
    return _shown(await _found(parts, who, memory.id))


@router.delete("/{memory_id}")
async def forget_memory(memory_id: str, who: Who, parts: Parts) -> dict[str, Any]:
    """Forget one memory; again, and the answer is the same."""
    key = _known_id(memory_id)
    memory = await _found(parts, who, key, states=_EVERY_STATE)
    await parts.store.forget(memory.owner, Where(ids=frozenset({key})), utc_now())
    return {"id": wire_id(key), "object": "memory.deleted", "deleted": True}


async def _found(
    parts: MemoryServices, who: Access, memory_id: UUID, states: frozenset[State] | None = None
) -> Memory:
    asked = Where(ids=frozenset({memory_id}), states=states)
    found = await parts.store.find(who.scope, asked, limit=1)
    if not found.memories:
        raise _no_such_memory()
    return found.memories[0]


def _known_id(text: str) -> UUID:
    if (memory_id := parse_id(text)) is None:
        raise _no_such_memory()
    return memory_id


def _id(text: str, param: str) -> UUID:
    if (memory_id := parse_id(text)) is None:
        raise RejectedError(400, f"'{param}' is no memory id.", param=param, code="invalid_id")
    return memory_id


def _no_such_memory() -> RejectedError:
    return RejectedError(404, "There is no such memory.", code="memory_not_found")


def _shown(memory: Memory) -> dict[str, Any]:
    return {"object": "memory", **to_row(memory)}
