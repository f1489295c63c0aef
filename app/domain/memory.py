"""What is remembered, whose it is, and how the store is asked about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from app.errors import EmptyFilterError

MAX_USER_CHARS: Final = 256
MAX_HISTORY: Final = 50


class MemoryType(StrEnum):
    """What kind of thing is remembered."""

    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    EPISODIC = "episodic"


class State(StrEnum):
    """What may be done with a memory; only `ACTIVE` is ever injected (M2)."""

    ACTIVE = "active"
    PENDING = "pending"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    REJECTED = "rejected"
    FORGOTTEN = "forgotten"


class Pool(StrEnum):
    """Who shares a memory: its user alone, or everyone on the project."""

    USER = "user"
    PROJECT = "project"


class Via(StrEnum):
    """How a memory came to be."""

    HEURISTIC = "heuristic"
    LLM = "llm"
    INLINE = "inline"
    TOOL = "tool"
    API = "api"
    IMPORT = "import"
    CONSOLIDATION = "consolidation"


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose memory: the first argument of every Store method.

    Sees the user's own pool and, with a project, the project's pool (M9).
    """

    tenant: str = field(repr=False)
    user: str = field(repr=False)
    project: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Tenant:
    """An administrator's reach: every user of one tenant. Never used on the path of a call."""

    name: str = field(repr=False)


Scope = Owner | Tenant


@dataclass(frozen=True, slots=True)
class Fact:
    """What is remembered: a self-contained statement (≤ 16 KiB of NFC text) and how it ranks."""

    content: str = field(repr=False)
    type: MemoryType = MemoryType.SEMANTIC
    slot: str | None = field(default=None, repr=False)
    importance: float = 0.5
    confidence: float = 0.9
    pinned: bool = False
    lang: str | None = None


@dataclass(frozen=True, slots=True)
class Times:
    """When it is true in the world (`valid_*`) and when we knew it (the rest); all UTC."""

    valid_from: datetime
    created_at: datetime
    updated_at: datetime
    valid_to: datetime | None = None
    superseded_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a memory came from; `created_by` is the user whose words it was."""

    created_by: str = field(repr=False)
    created_via: Via = Via.API
    app: str | None = None
    conversation_id: str | None = field(default=None, repr=False)
    source_turn: str | None = None
    quote: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Links:
    """Pointers to other memories, by id."""

    supersedes: tuple[UUID, ...] = ()
    superseded_by: UUID | None = None
    derived_from: tuple[UUID, ...] = ()
    conflicts_with: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """How often, and when last, a memory was given to a model."""

    count: int = 0
    last_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a memory's history; never holds content."""

    at: datetime
    event: str
    by: str = field(repr=False)
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """One remembered fact or episode (M1). A tombstone has an empty fact and no quote."""

    id: UUID
    owner: Owner
    pool: Pool
    fact: Fact
    state: State
    times: Times
    origin: Origin
    links: Links = Links()
    usage: Usage = Usage()
    history: tuple[Event, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Sparse:
    """A sparse vector: `indices` and `values` of the same length."""

    indices: tuple[int, ...] = field(repr=False)
    values: tuple[float, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Shape:
    """How many dimensions each vector of an embedder has; 0: it makes none of that kind."""

    dense: int
    tokens: int = 0
    multilingual: int = 0


@dataclass(frozen=True, slots=True)
class Vectors:
    """All indexes of one text. Dense ones are of unit length; an empty one: the text has none.

    `dense`: its meaning; `sparse`: its BM25 weights; `tokens`: one vector a word piece, for late
    interaction (in a query each as long as it weighs, 1 together); `multilingual`: its meaning, the
    same in every language.
    """

    dense: tuple[float, ...] = field(repr=False)
    sparse: Sparse = field(repr=False)
    tokens: tuple[tuple[float, ...], ...] = field(default=(), repr=False)
    multilingual: tuple[float, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that may matter, with its evidence: `cosine`, `bm25`, `fused`, `cue` and so on."""

    memory: Memory
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Where:
    """A filter on memories: every field that is given must match; None means "not asked".

    An empty set is never "everything": it raises `EmptyFilterError` (M39).
    """

    ids: frozenset[UUID] | None = None
    states: frozenset[State] | None = None
    types: frozenset[MemoryType] | None = None
    slots: frozenset[str] | None = None
    project: str | None = field(default=None, repr=False)
    app: str | None = None
    conversation_id: str | None = field(default=None, repr=False)
    pinned: bool | None = None
    created: tuple[datetime | None, datetime | None] | None = None
    content: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("ids", "states", "types", "slots"):
            value = getattr(self, name)
            if value is not None and not value:
                raise EmptyFilterError(f"the filter {name!r} is empty")

    @property
    def selective(self) -> bool:
        """Whether anything at all is asked; a scoped forget insists on it."""
        return self != Where()


@dataclass(frozen=True, slots=True)
class Found:
    """One page of memories, newest first; `total` counts all that match."""

    memories: tuple[Memory, ...]
    total: int
    has_more: bool


@dataclass(frozen=True, slots=True)
class Change:
    """One conditional write.

    Without `expect`: insert, unless the id exists in any state (a tombstone stays a tombstone).
    With `expect`: replace, if the stored row still has that state and `updated_at`.
    `vectors` None keeps the stored vectors.
    """

    memory: Memory
    vectors: Vectors | None = None
    expect: Memory | None = None
