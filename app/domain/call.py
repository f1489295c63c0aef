"""One call on its way in: `Exchange`, and what it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from app.domain.memory import Candidate, Memory, Owner


@dataclass(frozen=True, slots=True)
class Identity:
    """Who is asking. `owner` is None for a key that stands for no one person (an admin key).

    `multi_user`: may name an end user on each call. `consumed`: the header that held a credential
    of ours, which never goes upstream.
    """

    tenant: str = field(repr=False)
    owner: Owner | None = field(repr=False)
    project: str | None = field(default=None, repr=False)
    app: str | None = None
    admin: bool = False
    multi_user: bool = False
    via: str = "key_hash"
    consumed: str | None = None


@dataclass(frozen=True, slots=True)
class Admitted:
    """A memory that the gate lets in, with the (perhaps shortened) text for the model."""

    memory: Memory
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a gate decided on a candidate, with its scores; `reason` is None if it is admitted."""

    memory: Memory
    scores: Mapping[str, float]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """What is attached to a user turn: the fenced text, the ids in it and its size in tokens."""

    text: str = field(repr=False)
    ids: tuple[UUID, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Note:
    """What one step did: `outcome` is ok, failed or late; `reason` an exception's type name."""

    step: str
    outcome: str
    seconds: float
    reason: str | None = None


class Placement(StrEnum):
    """Where blocks stand: each on its own turn for good, only on the current one, or nowhere."""

    PREFIX_STABLE = "prefix_stable"
    CURRENT_TURN = "current_turn"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Policy:
    """What may happen on this call (M10). `rewrite`: if there is a model that rewrites queries."""

    read: bool = True
    write: bool = True
    gate: str = "heuristic"
    extractor: str = "heuristic"
    limit: int = 12
    max_tokens: int = 512
    threshold: float | None = None
    placement: Placement = Placement.PREFIX_STABLE
    rewrite: bool = True
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the conversation, reduced to its role and its text."""

    role: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class UserTurn:
    """A user message: its place among the messages, and a digest of everything up to it.

    `block` is what an earlier call attached to it, if that is known; `rewritten` is the turn as a
    query that can be understood alone, if a model wrote one.
    """

    place: int
    key: str
    block: Block | None = None
    rewritten: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Placed:
    """A block on its turn; `replayed` if an earlier call put it there."""

    turn: UserTurn
    block: Block
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """The request in our words: what the dialect read from the body's bytes.

    `turns` are the user messages, `query` is the text of the last one, `recent` the messages before
    it, newest last, bounded; `fresh` says that it is not in a tool loop already; `roomy` that the
    answer is prose with room for a line more: no schema, no stop sequence, no narrow limit.
    """

    dialect: str
    model: str
    body: bytes = field(repr=False)
    stream: bool = False
    query: str = field(default="", repr=False)
    recent: tuple[Message, ...] = field(default=(), repr=False)
    turns: tuple[UserTurn, ...] = ()
    fresh: bool = True
    roomy: bool = False
    end_user: str | None = field(default=None, repr=False)

    @property
    def turn(self) -> UserTurn | None:
        """The current one: the last of the user's messages."""
        return self.turns[-1] if self.turns else None

    @property
    def opening(self) -> bool:
        """Whether the user turn is the first of its conversation."""
        return all(message.role in {"system", "developer"} for message in self.recent)


@dataclass(frozen=True, slots=True)
class Arrival:
    """The request as it came: raw path and header pairs, and the peer's address."""

    method: str
    path: bytes
    query: bytes = field(repr=False)
    headers: tuple[tuple[bytes, bytes], ...] = field(repr=False)
    peer: str = field(default="", repr=False)

    def header(self, name: bytes) -> str | None:
        """The first header of that (lower-case) name, decoded as UTF-8, else Latin-1."""
        for key, value in self.headers:
            if key == name:
                try:
                    return value.decode()
                except UnicodeDecodeError:
                    return value.decode("latin-1")
        return None


@dataclass(frozen=True, slots=True)
class Exchange:
    """The way in. Each filter turns one Exchange into the next."""

    id: str
    at: datetime
    arrival: Arrival
    call: Call | None = None
    identity: Identity | None = None
    policy: Policy = Policy()
    candidates: tuple[Candidate, ...] = ()
    admitted: tuple[Admitted, ...] = ()
    blocks: tuple[Placed, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def block(self) -> Block | None:
        """What this call adds to its turn, if anything; other blocks are replayed."""
        return next((placed.block for placed in self.blocks if not placed.replayed), None)

    @property
    def owner(self) -> Owner | None:
        """Whose memory this call may use, if anybody's."""
        return self.identity.owner if self.identity else None


@dataclass(frozen=True, slots=True)
class Answer:
    """The upstream's answer in our words; `complete` says that it ended properly (M26).

    `markers`: what those in it held (they are not in the text); None if it was to have none.
    """

    text: str = field(default="", repr=False)
    complete: bool = False
    finish: str | None = None
    markers: tuple[str, ...] | None = field(default=None, repr=False)
