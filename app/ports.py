"""Every seam on one page. A port has at most five methods (a rule test counts)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from app.domain import (
        Admitted,
        Answer,
        Block,
        Call,
        Candidate,
        Change,
        Found,
        Learned,
        Owner,
        Policy,
        Receipt,
        Scope,
        Shape,
        Turn,
        Vectors,
        Verdict,
        Where,
    )


class ReplyReader(Protocol):
    """Listens to an answer as it passes. Any split of the bytes reads the same; it never raises."""

    def feed(self, chunk: bytes) -> bool:
        """Take one chunk; True once the bytes so far are a whole answer in themselves."""
        ...

    def finish(self) -> Answer:
        """What was said, after the last chunk."""
        ...


class Dialect(Protocol):
    """One API shape: wire to meaning and back. Pure."""

    @property
    def name(self) -> str:
        """How logs and metrics call it."""
        ...

    def read(self, body: bytes) -> Call:
        """Parse a request body; raises `RejectedError` (400) in the client's own terms."""
        ...

    def write(self, call: Call, blocks: Mapping[int, str]) -> bytes:
        """The body with a text at the end of the user turn in each place; other bytes stay (G2)."""
        ...

    def rename(self, body: bytes, model: str) -> bytes:
        """The body with another model name; every other byte as it was."""
        ...

    def reader(self, content_type: str, encoding: str = "") -> ReplyReader:
        """A reader for one answer of that content type and content encoding."""
        ...


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One request for an upstream; `path` and `query` as raw bytes, `body` whole or as a stream.

    `headers` are the client's; `consumed` names the one that held a credential of ours; `wanted` is
    the upstream that is asked for by name: a client may name few, a call of our own (`ours`) any;
    `rename` puts another model name into the body.
    """

    method: str
    path: bytes
    query: bytes = field(repr=False)
    headers: tuple[tuple[bytes, bytes], ...] = field(repr=False)
    body: bytes | AsyncIterator[bytes] = field(repr=False)
    model: str = ""
    consumed: bytes | None = None
    wanted: str | None = None
    rename: Callable[[bytes, str], bytes] | None = field(default=None, repr=False)
    ours: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """An unread answer: its head, its bytes as they come, and a way to let go of it at once."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...] = field(repr=False)
    chunks: AsyncIterator[bytes] = field(repr=False)
    close: Callable[[], None] = field(repr=False)
    upstream: str = "default"


class Socket(Protocol):
    """A WebSocket to an upstream."""

    subprotocol: str | None

    async def receive(self) -> str | bytes | None:
        """The next message, text or binary; None once it is closed, and `close_code` says how."""
        ...

    async def send(self, data: str | bytes) -> None:
        """Send a message of the same kind."""
        ...

    async def close(self, code: int) -> None:
        """Close it with that code, or the nearest that may be sent."""
        ...

    @property
    def close_code(self) -> int:
        """How it ended."""
        ...


class Upstream(Protocol):
    """Sends a request on and gives back an unread reply; raises `UpstreamError`."""

    async def connect(self, request: Outgoing, subprotocols: Sequence[str]) -> tuple[Socket, str]:
        """Open a WebSocket; it, and the upstream's name. Raises `RejectedError` if refused."""
        ...

    async def send(self, request: Outgoing) -> Reply:
        """Route by model, send, return when the answer's headers are there."""
        ...

    async def everyone(self, request: Outgoing) -> list[Reply]:
        """Ask every upstream, in their order; those that do not answer are left out."""
        ...


class Store(Protocol):
    """Where memories live. Whose comes first in every method; raises `StoreError`.

    All methods are safe to call from one event loop and never block it for long.
    """

    async def search(
        self,
        owner: Owner,
        vectors: Vectors,
        where: Where,
        limit: int,
        *,
        also: Sequence[Where] = (),
        as_of: datetime | None = None,
    ) -> list[Candidate]:
        """The best `limit` of a dense and a BM25 search, each with the owner's filter inside.

        Best first, with `cosine` (-1..1), `bm25` (≥ 0; 0: no word in common) and `fused`. What
        matches one of `also`, and `where`, comes as well, whatever its scores. `as_of`: of what was
        held true at that moment, whatever became of it, only what is forgotten is not shown (M38).
        """
        ...

    async def find(
        self,
        scope: Scope,
        where: Where,
        *,
        limit: int = 100,
        after: UUID | None = None,
        as_of: datetime | None = None,
        oldest: bool = False,
    ) -> Found:
        """A page of what matches, newest first, behind the row `after`; 0 ≤ `limit` ≤ 1000.

        `as_of`: as in `search`. `oldest`: the first page from the other end; goes with no `after`.
        """
        ...

    async def save(self, owner: Owner, changes: Sequence[Change]) -> list[bool]:
        """Write each change if its condition holds; which did. Rows of other owners are refused."""
        ...

    async def touch(self, owner: Owner, uses: Mapping[UUID, int], at: datetime) -> None:
        """Count so many uses of each memory that still exists and is active (M17)."""
        ...

    async def forget(self, scope: Scope, where: Where, at: datetime) -> list[UUID]:
        """Turn what matches into tombstones; their ids. An empty filter raises (M39)."""
        ...


class Pins(Protocol):
    """Which block each turn of a conversation was given (M24). Raises `StoreError`.

    What changes a memory also drops the pins that show it: that is the store's business (M25).
    """

    async def get(self, owner: Owner, keys: Sequence[str]) -> dict[str, Block]:
        """The blocks of those of these turns that have one."""
        ...

    async def put(
        self, owner: Owner, key: str, block: Block, *, read: datetime, until: datetime | None
    ) -> None:
        """Keep a turn's block, unless a memory in it has changed since it was `read`."""
        ...


class Embed(Protocol):
    """Text to vectors; `identity` (model, dimension, version) binds a collection (M4)."""

    identity: str
    shape: Shape

    async def documents(
        self, texts: Sequence[str], own: Sequence[str] | None = None
    ) -> list[Vectors]:
        """Vectors to store. `own`: what is the memory's own of each text, the rest is context."""
        ...

    async def query(self, text: str) -> Vectors:
        """Vectors to search with."""
        ...

    def words(self, text: str) -> Sequence[int]:
        """The indices that a text's sparse vector would have."""
        ...


class Extract(Protocol):
    """Finds what the user asserted in a turn (M29)."""

    async def __call__(self, turn: Turn) -> tuple[Learned, ...]:
        """The facts of one turn, in the order they were said."""
        ...


class Gate(Protocol):
    """Decides which candidates the model gets to read. Pure and quick (M19–M21)."""

    def __call__(
        self, policy: Policy, candidates: Sequence[Candidate], now: datetime
    ) -> tuple[Admitted, ...]:
        """The admitted memories, most relevant first, within the policy's budget."""
        ...

    def explain(
        self, policy: Policy, candidates: Sequence[Candidate], now: datetime
    ) -> list[Verdict]:
        """The same decision on every candidate, with the rule that each fell to."""
        ...


class Spool(Protocol):
    """A durable queue of finished turns, and their receipts (M27)."""

    async def put(self, turn: Turn) -> bool:
        """Keep a turn until it is learned from; False if there was no room (see its receipt)."""
        ...

    async def done(self, *receipts: Receipt) -> None:
        """Drop the turns that wait, and keep their receipts."""
        ...

    async def receipt(self, scope: Scope, turn_id: str) -> Receipt | None:
        """How a turn of that scope ended; None while it waits or if there is none."""
        ...

    async def forget(self, scope: Scope) -> int:
        """Drop the waiting turns of a scope; how many."""
        ...
