"""What a store is asked, in one place: who sees which row, and how a filter reads. Pure.

Each engine brings a `Kit` that turns seven kinds of condition into its own language; nobody else
writes a condition, so an unscoped query cannot be written anywhere.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from app.domain import Owner, Pool, Scope, State, Tenant, Where
from app.errors import EmptyFilterError
from app.memory.rows import Row, digest, id_of, micros

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from uuid import UUID

C = TypeVar("C")

KEPT: Final = 1024
# Later than anything that is asked about (the year 2255), and exact as a float.
NEVER: Final = 2**53 - 1
_PINS: Final = "pin:"
_NAMES: Final = ("project", "app", "conversation_id")


class Kit(Protocol[C]):
    """How an engine says a condition."""

    def equals(self, key: str, value: str | int) -> C:
        """The field holds this value."""
        ...

    def differs(self, key: str, value: str) -> C:
        """The field does not hold this value; a row without the field passes."""
        ...

    def among(self, key: str, values: Sequence[str]) -> C:
        """The field holds one of these values, or a list with one of them."""
        ...

    def between(self, key: str, low: int | None, high: int | None) -> C:
        """The integer field is ≥ `low` and < `high`."""
        ...

    def ids(self, ids: Iterable[UUID]) -> C:
        """The row has one of these ids."""
        ...

    def every(self, conditions: Sequence[C]) -> C:
        """All of them hold."""
        ...

    def either(self, conditions: Sequence[C]) -> C:
        """At least one of them holds."""
        ...


class Plan(Generic[C]):
    """Conditions for one engine. `key` is the secret of the content digest."""

    def __init__(self, kit: Kit[C], key: bytes) -> None:
        self._kit = kit
        self._key = key
        self._visible = lru_cache(KEPT)(self._build_visible)

    def visible(self, scope: Scope, where: Where, as_of: datetime | None = None) -> C:
        """What `scope` may read: its own pool and its project's (M9), narrowed by `where`.

        Tombstones are not seen unless asked for by state. `as_of`: what was held true then.
        """
        if as_of is not None:
            return self._kit.every([self.visible(scope, where), self._held(as_of)])
        # Most calls ask the same of the same owner; ids and contents are asked once.
        if where.content is not None:
            return self._build_visible(scope, where)
        if where.ids is not None:
            rest = self._visible(scope, replace(where, ids=None))
            return self._kit.every([rest, self._kit.ids(where.ids)])
        return self._visible(scope, where)

    def owned(self, scope: Scope, where: Where) -> C:
        """What `scope` may forget: rows of its own in either pool."""
        return self._kit.every([*self._own(scope), self._in_state(where), *self._asked(where)])

    def unchanged(self, scope: Scope, row: Row) -> C:
        """That very row within the reach of `scope`, with the state and time it was read with.

        What a damaged row does not have is not asked.
        """
        read = [(key, row.get(key)) for key in ("state", "updated_us")]
        same = [self._kit.equals(key, value) for key, value in read if isinstance(value, str | int)]
        return self._kit.every([*self._reach(scope), self._kit.ids([id_of(row)]), *same])

    def pins(self, owner: Owner, turns: Sequence[str] = (), at: datetime | None = None) -> C:
        """The pins of one owner: all, or those of these turns that still live at that time."""
        asked = [self._kit.equals("shelf", self.pin_shelf(owner))]
        if turns:
            asked.append(self._kit.among("turn", turns))
        if at is not None:
            asked.append(self._kit.between("expires_us", micros(at) + 1, None))
        return self._kit.every(asked)

    def pins_showing(self, memories: Sequence[str]) -> C:
        """Whoever's pins that show one of these memories (hex digits of the ids)."""
        return self._kit.among("memories", memories)

    def expired_pins(self, at: datetime) -> C:
        """Whoever's pins whose time is over."""
        return self._kit.between("expires_us", None, micros(at) + 1)

    @staticmethod
    def pin_shelf(owner: Owner) -> str:
        """Where an owner's pins stand: never among memories, which name a state there."""
        return f"{_PINS}{_hashed([owner.tenant, owner.user, owner.project])}"

    def also(
        self, condition: C, *, low: int | None, high: int | None, field: str = "created_us"
    ) -> C:
        """`condition`, and `low` ≤ t < `high` (microseconds): for paging, and for what is older."""
        return self._kit.every([condition, self._kit.between(field, low, high)])

    def _build_visible(self, scope: Scope, where: Where) -> C:
        asked = self._asked(where)
        if isinstance(scope, Tenant):
            return self._kit.every([*self._own(scope), self._in_state(where), *asked])
        # Owner, pool and state in one field: one look-up instead of four in every search.
        states = where.states or frozenset(State) - {State.FORGOTTEN}
        shelves = [shelf(scope, Pool.USER, state) for state in states]
        if scope.project is not None:
            shelves += [shelf(scope, Pool.PROJECT, state) for state in states]
        return self._kit.every([self._kit.among("shelf", sorted(shelves)), *asked])

    def _held(self, moment: datetime) -> C:
        at = min(micros(moment) + 1, NEVER)
        spans = (("held_from_us", "held_until_us"), ("first_from_us", "first_until_us"))
        return self._kit.either(
            [
                self._kit.every(
                    [self._kit.between(begin, None, at), self._kit.between(end, at, None)]
                )
                for begin, end in spans
            ]
        )

    def _own(self, scope: Scope) -> list[C]:
        if isinstance(scope, Tenant):
            return [self._kit.equals("tenant", scope.name)]
        return [self._kit.equals("tenant", scope.tenant), self._kit.equals("user", scope.user)]

    def _reach(self, scope: Scope) -> list[C]:
        """Rows of the user in either pool, and those of the project's pool."""
        if isinstance(scope, Tenant) or scope.project is None:
            return self._own(scope)
        mine = self._kit.every(self._own(scope))
        project = self._kit.equals("project", scope.project)
        pool = self._kit.equals("pool", Pool.PROJECT.value)
        tenant = self._kit.equals("tenant", scope.tenant)
        return [tenant, self._kit.either([mine, self._kit.every([project, pool])])]

    def _asked(self, where: Where) -> list[C]:
        _refuse_empty(where)
        asked = []
        if where.ids is not None:
            asked.append(self._kit.ids(where.ids))
        sets = (("type", where.types), ("slot", where.slots))
        asked += [self._kit.among(key, sorted(values)) for key, values in sets if values]
        named = [(key, getattr(where, key)) for key in _NAMES]
        asked += [self._kit.equals(key, value) for key, value in named if value is not None]
        if where.pinned is not None:
            asked.append(self._kit.equals("pin", int(where.pinned)))
        if where.created is not None:
            low, high = (micros(t) if t else None for t in where.created)
            asked.append(self._kit.between("created_us", low, high))
        if where.content is not None:
            asked.append(self._kit.equals("digest", digest(self._key, where.content)))
        return asked

    def _in_state(self, where: Where) -> C:
        if where.states is None:
            return self._kit.differs("state", State.FORGOTTEN.value)
        return self._kit.among("state", sorted(where.states))


def shelf(owner: Owner, pool: Pool, state: State) -> str:
    """Where a row stands: whose it is (the user's, or the project's), its pool and its state."""
    holder = owner.project if pool is Pool.PROJECT else owner.user
    return f"{state}:{pool}:{_hashed([owner.tenant, holder])}"


def is_pin(row: Row) -> bool:
    """Whether a row stands where pins stand, whatever else it holds."""
    place = row.get("shelf")
    return isinstance(place, str) and place.startswith(_PINS)


def _hashed(whose: list[str | None]) -> str:
    return hashlib.blake2b(json.dumps(whose).encode(), digest_size=16).hexdigest()


def _refuse_empty(where: Where) -> None:
    """Empty sets are refused by `Where` itself; these are the other ways to say nothing (M39)."""
    for name in (*_NAMES, "content"):
        value = getattr(where, name)
        if value is not None and not value.strip():
            raise EmptyFilterError(f"the filter {name!r} is empty")
    if where.created == (None, None):
        raise EmptyFilterError("the filter 'created' is empty")
