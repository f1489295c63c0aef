"""The one mechanism: a row of filters, each `async (T) -> T`, over values that never change.

A step that fails or runs late has left nothing behind: its result is dropped, the previous value
goes on with a note (fail open). A vital step fails closed. This file holds the project's only
`except Exception` that does not raise again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Generic, Protocol, TypeVar

import structlog

from app.domain import Note
from app.errors import RejectedError, RemoraError

_log = structlog.get_logger()


class Noted(Protocol):
    """A frozen dataclass that keeps notes."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """What the steps so far did."""
        ...


T = TypeVar("T", bound=Noted)
Filter = Callable[[T], Awaitable[T]]


@dataclass(frozen=True, slots=True)
class Step(Generic[T]):
    """A named filter; `budget` in seconds (None: it does no I/O), `vital` steps fail closed."""

    name: str
    run: Filter[T]
    budget: float | None = None
    vital: bool = False


async def run(steps: Sequence[Step[T]], value: T) -> T:
    """Apply the steps in order. Raises `RejectedError` and, from vital steps, any `RemoraError`."""
    for step in steps:
        value = await _attempt(step, value)
    return value


async def _attempt(step: Step[T], value: T) -> T:
    started = perf_counter()
    outcome, reason = "ok", None
    try:
        if step.budget is None:
            value = await step.run(value)
        else:
            async with asyncio.timeout(step.budget):
                value = await step.run(value)
    except RejectedError:
        raise
    except Exception as error:
        if step.vital:
            raise _as_ours(error) from error
        outcome = "late" if isinstance(error, TimeoutError) else "failed"
        reason = type(error).__name__
        _log.warning("step", step=step.name, outcome=outcome, reason=reason)
    note = Note(step.name, outcome, perf_counter() - started, reason)
    return _with_note(value, note)


def _with_note(value: T, note: Note) -> T:
    # `replace` wants a dataclass type; the protocol cannot say that it is one.
    return replace(value, notes=(*value.notes, note))  # type: ignore[type-var]


def _as_ours(error: Exception) -> RemoraError:
    if isinstance(error, RemoraError):
        return error
    return RejectedError(
        500, "Remora failed on this call.", code="internal_error", kind="server_error"
    )
