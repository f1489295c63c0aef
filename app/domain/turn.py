"""One finished round on its way out: `Turn`, and what is learned from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from app.domain.call import Message, Note, Policy
from app.domain.memory import Fact, Owner, Pool, State, Via


@dataclass(frozen=True, slots=True)
class Source:
    """Which call a turn came from.

    `opening`: the first turn of a conversation that nobody named; said in a new one, it is the same
    to the letter. `markers`: the answer's (see `Answer`). `before`: the last messages before the
    turn, which tell how it is meant (M31).
    """

    app: str | None = None
    model: str = ""
    conversation_id: str | None = field(default=None, repr=False)
    turn_key: str = ""
    opening: bool = False
    injected: tuple[UUID, ...] = ()
    markers: tuple[str, ...] | None = field(default=None, repr=False)
    before: tuple[Message, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Topic:
    """What a statement ends, where no slot tells: all `words` stand in the memory that is meant.

    `needs`: one of these as well. `hints`: of several memories those that have one are meant.
    `kept`: the statement stays in their place ("I sold my bike"); else nothing does ("forget …").
    """

    words: frozenset[str] = field(repr=False)
    needs: frozenset[str] = field(default=frozenset(), repr=False)
    hints: frozenset[str] = field(default=frozenset(), repr=False)
    kept: bool = True


@dataclass(frozen=True, slots=True)
class Learned:
    """A fact found in a turn, before it meets what is already known.

    `about`: the memories whose place it takes, because it corrects them or says that they are over;
    `topic`: how to find those that nobody named.
    """

    fact: Fact
    quote: str = field(repr=False)
    pool: Pool = Pool.USER
    valid_from: datetime | None = None
    retracts: bool = False
    state: State = State.ACTIVE
    about: tuple[UUID, ...] = ()
    via: Via = Via.HEURISTIC
    topic: Topic | None = None

    @property
    def withdraws(self) -> bool:
        """Whether it only ends what is known, and is itself not kept."""
        return self.topic is not None and not self.topic.kept


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a turn: ids that are now active, ids that wait, kinds that were blocked."""

    stored: tuple[UUID, ...] = ()
    pending: tuple[UUID, ...] = ()
    blocked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """The way out: one finished round, and what was learned from it."""

    id: str
    at: datetime
    owner: Owner
    policy: Policy
    source: Source
    query: str = field(repr=False)
    answer: str = field(default="", repr=False)
    learned: tuple[Learned, ...] = ()
    outcome: Outcome = Outcome()
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Receipt:
    """How one turn ended (M27): its outcome, what was written, the kinds that were blocked."""

    id: str
    owner: Owner
    outcome: str
    at: datetime
    memories: tuple[UUID, ...] = ()
    blocked: tuple[str, ...] = ()
