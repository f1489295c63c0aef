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
    notes = list(value.notes)
    for step in steps:
        started = perf_counter()
        value, outcome, reason = await _attempt(step, value)
        notes.append(Note(step.name, outcome, perf_counter() - started, reason))
    # `replace` wants a dataclass type; the protocol cannot say that it is one.
    return replace(value, notes=tuple(notes))  # type: ignore[type-var]


async def _attempt(step: Step[T], value: T) -> tuple[T, str, str | None]:
    """What the step made of the value, or the value itself; the outcome, and why."""
    try:
        if step.budget is None:
            return await step.run(value), "ok", None
        async with asyncio.timeout(step.budget):
            return await step.run(value), "ok", None
    except RejectedError:
        raise
    except Exception as error:
        if step.vital:
            raise _as_ours(error) from error
        outcome = "late" if isinstance(error, TimeoutError) else "failed"
        reason = type(error).__name__
    _log.warning("step", step=step.name, outcome=outcome, reason=reason)
    return value, outcome, reason


def _as_ours(error: Exception) -> RemoraError:
    if isinstance(error, RemoraError):
        return error
    return RejectedError(
        500, "Remora failed on this call.", code="internal_error", kind="server_error"
    )
