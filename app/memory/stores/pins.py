"""Pins: the very block that a turn was given, so that it can be given again (M24, M25).

Rows of their own kind beside the memories, without vectors, under an id made of the owner and the
turn's key. A miss never hurts; it only costs the provider's cache.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from typing import TYPE_CHECKING, Final, Generic, TypeVar
from uuid import UUID

from app.domain import Block, State, Where, utc_now
from app.memory.rows import micros
from app.memory.stores.engine import Write

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from app.domain import Owner
    from app.memory.rows import Row
    from app.memory.stores.engine import Engine
    from app.memory.stores.plan import Plan

C = TypeVar("C")

# Turns of one conversation that are looked for; older ones are long out of any context window.
MOST_TURNS: Final = 1_000
# Every so many pins, those of their owner are counted and those that expired are swept out.
SWEEP_EVERY: Final = 64
# Answers that are still good for a moment, unless a pin is put or dropped before.
RECENT: Final = 256
RECENT_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True)
class PinLimits:
    """How long a pin lives, and how many an owner may have."""

    lifetime: timedelta = timedelta(days=7)
    per_owner: int = 2_000


class PinStore(Generic[C]):
    """`app.ports.Pins` over an engine."""

    def __init__(self, engine: Engine[C], plan: Plan[C], limits: PinLimits) -> None:
        self._engine = engine
        self._plan = plan
        self._limits = limits
        self._written: Counter[str] = Counter()
        self._recent: dict[tuple[Owner, tuple[str, ...]], tuple[float, dict[str, Block]]] = {}

    async def get(self, owner: Owner, keys: Sequence[str]) -> dict[str, Block]:
        turns = tuple(keys[-MOST_TURNS:])
        if not turns:
            return {}
        # A call looks twice (see `Recheck`); nobody else writes to an engine of our own.
        until, found = self._recent.get((owner, turns), (0.0, {}))
        if monotonic() < until:
            return found
        rows = await self._engine.scroll(
            self._plan.pins(owner, turns, utc_now()), len(turns), order=None
        )
        blocks = ((row["turn"], _block(row)) for row in rows)
        found = {key: block for key, block in blocks if block is not None}
        if self._engine.exclusive:
            if len(self._recent) >= RECENT:
                self._recent.clear()
            self._recent[owner, turns] = monotonic() + RECENT_SECONDS, found
        return found

    async def put(
        self, owner: Owner, key: str, block: Block, *, read: datetime, until: datetime | None
    ) -> None:
        row = self._row(owner, block, until) | {"turn": key}
        pin = pin_id(owner, key)
        self._recent.clear()
        fresh = False
        try:
            if not all(await self._engine.write([Write(pin, row)])):  # the turn came anew
                await self._engine.delete(self._engine.kit.ids([pin]))
                await self._engine.write([Write(pin, row)])
            fresh = await self._unchanged(owner, block, read)
        finally:
            if not fresh:
                await self._engine.delete(self._engine.kit.ids([pin]))
        self._written[shelf := self._plan.pin_shelf(owner)] += 1
        if self._written[shelf] % SWEEP_EVERY == 0:
            await self._sweep(owner)

    async def _unchanged(self, owner: Owner, block: Block, read: datetime) -> bool:
        """Whether the memories are as they were read: what changed since took only older pins."""
        if not block.ids:
            return True
        active = Where(ids=frozenset(block.ids), states=frozenset({State.ACTIVE}))
        shown = self._plan.visible(owner, active)
        same = self._plan.also(shown, low=None, high=micros(read), field="updated_us")
        return await self._engine.count(same) == len(block.ids)

    async def drop(self, memories: Iterable[UUID]) -> None:
        """Every pin that shows one of these memories, whoever it was shown to."""
        self._recent.clear()
        if shown := [memory.hex for memory in memories]:
            await self._engine.delete(self._plan.pins_showing(shown))

    def _row(self, owner: Owner, block: Block, until: datetime | None) -> Row:
        now = utc_now()
        expires = now + self._limits.lifetime
        return {
            "shelf": self._plan.pin_shelf(owner),
            "block": block.text,
            "tokens": block.tokens,
            "memories": [memory.hex for memory in block.ids],
            "created_us": micros(now),
            "expires_us": micros(min(expires, until) if until else expires),
            "rev": secrets.token_hex(8),
        }

    async def _sweep(self, owner: Owner) -> None:
        await self._engine.delete(self._plan.expired_pins(utc_now()))
        most = self._limits.per_owner
        rows = await self._engine.scroll(self._plan.pins(owner), most + 1)
        if len(rows) > most:
            oldest = self._plan.also(
                self._plan.pins(owner), low=None, high=rows[most]["created_us"] + 1
            )
            await self._engine.delete(oldest)


def pin_id(owner: Owner, key: str) -> UUID:
    """The same for the same owner and turn, another for any other."""
    whose = json.dumps([owner.tenant, owner.user, owner.project, key]).encode()
    return UUID(bytes=hashlib.blake2b(whose, digest_size=16).digest())


def _block(row: Row) -> Block | None:
    """None for a damaged row: then the turn goes without, as if it had expired."""
    try:
        shown = tuple(UUID(hex=memory) for memory in row["memories"])
        return Block(str(row["block"]), shown, int(row["tokens"]))
    except (KeyError, TypeError, ValueError):
        return None
