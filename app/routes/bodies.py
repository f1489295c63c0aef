"""What the memory API accepts, checked."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from app.domain import Event, Memory, MemoryType, Pool, State, clean_text
from app.memory.history import ACTIVATED, CONFLICT, CORRECTED, REJECTED, recorded
from app.memory.secrets import mask

if TYPE_CHECKING:
    from collections.abc import Mapping


def _content(text: str) -> str:
    cleaned = clean_text(text)
    if not cleaned:
        raise ValueError("must not be empty")
    if kinds := mask(cleaned).kinds:
        raise ValueError(f"holds a secret ({', '.join(kinds)}), which is never stored")
    return cleaned


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


Content = Annotated[str, AfterValidator(_content)]
Moment = Annotated[datetime, AfterValidator(_aware)]
Share = Annotated[float, Field(ge=0, le=1)]
Slot = Annotated[str, Field(min_length=1, max_length=100)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NewMemory(_Body):
    """A statement to remember."""

    content: Content
    type: MemoryType = MemoryType.SEMANTIC
    slot: Slot | None = None
    importance: Share = 0.5
    pinned: bool = False
    pool: Pool = Pool.USER
    valid_from: Moment | None = None
    valid_to: Moment | None = None


class Patch(_Body):
    """What to change; a field that is absent stays, `slot` and `valid_to` may be null."""

    content: Content | None = None
    type: MemoryType | None = None
    slot: Slot | None = None
    importance: Share | None = None
    pinned: bool | None = None
    state: Literal["active", "rejected"] | None = None
    valid_from: Moment | None = None
    valid_to: Moment | None = None


NULLABLE = frozenset({"slot", "valid_to"})


def corrected(memory: Memory, patch: Patch, event: Event) -> Memory:
    """The memory with the patch applied and the event in its history. Pure."""
    given = patch.model_dump(exclude_unset=True)
    given = {k: v for k, v in given.items() if v is not None or k in NULLABLE}
    event = _named(memory, given, event)
    fact = replace(memory.fact, **_only(given, "content", "type", "slot", "importance", "pinned"))
    times = replace(memory.times, updated_at=event.at, **_only(given, "valid_from", "valid_to"))
    origin = replace(memory.origin, quote=None) if "content" in given else memory.origin
    return replace(
        memory,
        fact=fact,
        times=times,
        origin=origin,
        state=State(given.get("state", memory.state)),
        history=recorded(memory, event),
    )


def _named(memory: Memory, given: Mapping[str, Any], event: Event) -> Event:
    """The event by what happened: a decision on the memory, or else a correction."""
    state = given.get("state")
    decided = state is not None and (state != memory.state or memory.links.conflicts_with)
    if not decided:
        return event
    name = ACTIVATED if state == State.ACTIVE else REJECTED
    reason = CONFLICT if memory.links.conflicts_with else None
    reason = reason if given.keys() == {"state"} else CORRECTED
    return replace(event, event=name, reason=reason)


def _only(given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: given[name] for name in names if name in given}
