"""What a store is asked, in one place: who sees which row, and how a filter reads. Pure.

Each engine brings a `Kit` that turns six kinds of condition into its own language; nobody else
writes a condition, so an unscoped query cannot be written anywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar
from uuid import UUID

from app.domain import Owner, Pool, Scope, State, Tenant, Where
from app.memory.rows import PREFIX, Row, digest, micros

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

C = TypeVar("C")


class Kit(Protocol[C]):
    """How an engine says a condition."""

    def equals(self, key: str, value: str | int) -> C:
        """The field holds this value."""
        ...

    def among(self, key: str, values: Sequence[str]) -> C:
        """The field holds one of these values."""
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

    def visible(self, scope: Scope, where: Where) -> C:
        """What `scope` may read: its own pool and its project's (M9), narrowed by `where`.

        Tombstones are not seen unless asked for by state.
        """
        return self._kit.every([*self._reach(scope), *self._asked(where)])

    def owned(self, scope: Scope, where: Where) -> C:
        """What `scope` may forget or use up: rows of its own in either pool."""
        return self._kit.every([*self._own(scope), *self._asked(where)])

    def unchanged(self, row: Row) -> C:
        """That very row, with its state and `updated_us` as they were read."""
        return self._kit.every(
            [
                *self._own(Owner(row["tenant"], row["user"])),
                self._kit.ids([UUID(row["id"].removeprefix(PREFIX))]),
                self._kit.equals("state", row["state"]),
                self._kit.equals("updated_us", row["updated_us"]),
            ]
        )

    def also(self, condition: C, *, low: int | None, high: int | None) -> C:
        """`condition`, and created in `low` ≤ t < `high` (microseconds): for paging."""
        return self._kit.every([condition, self._kit.between("created_us", low, high)])

    def _own(self, scope: Scope) -> list[C]:
        if isinstance(scope, Tenant):
            return [self._kit.equals("tenant", scope.name)]
        return [self._kit.equals("tenant", scope.tenant), self._kit.equals("user", scope.user)]

    def _reach(self, scope: Scope) -> list[C]:
        if isinstance(scope, Tenant) or scope.project is None:
            private = [] if isinstance(scope, Tenant) else [self._pool(Pool.USER)]
            return [*self._own(scope), *private]
        own = self._kit.every([self._kit.equals("user", scope.user), self._pool(Pool.USER)])
        project = self._kit.equals("project", scope.project)
        shared = self._kit.every([project, self._pool(Pool.PROJECT)])
        return [self._kit.equals("tenant", scope.tenant), self._kit.either([own, shared])]

    def _pool(self, pool: Pool) -> C:
        return self._kit.equals("pool", pool.value)

    def _asked(self, where: Where) -> list[C]:
        states = where.states or frozenset(State) - {State.FORGOTTEN}
        asked = [self._kit.among("state", sorted(states))]
        if where.ids is not None:
            asked.append(self._kit.ids(where.ids))
        for key, values in (("type", where.types), ("slot", where.slots)):
            if values is not None:
                asked.append(self._kit.among(key, sorted(values)))
        for key, value in (
            ("project", where.project),
            ("app", where.app),
            ("conversation_id", where.conversation_id),
            ("pinned", where.pinned),
        ):
            if value is not None:
                asked.append(self._kit.equals(key, value))
        return asked + self._asked_more(where)

    def _asked_more(self, where: Where) -> list[C]:
        asked = []
        if where.created is not None:
            low, high = (micros(t) if t else None for t in where.created)
            asked.append(self._kit.between("created_us", low, high))
        if where.content is not None:
            asked.append(self._kit.equals("digest", digest(self._key, where.content)))
        return asked
