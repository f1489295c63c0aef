from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

import pytest

from app.domain import Note
from app.errors import RejectedError, StoreError
from app.pipeline import Filter, Step, run


@dataclass(frozen=True, slots=True)
class Value:
    words: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()


def add(word: str) -> Filter[Value]:
    async def step(value: Value) -> Value:
        return replace(value, words=(*value.words, word))

    return step


def fail(error: Exception) -> Filter[Value]:
    async def step(value: Value) -> Value:
        del value
        raise error

    return step


async def slow(value: Value) -> Value:
    await asyncio.sleep(30)
    return replace(value, words=("late",))


async def test_steps_run_in_order_and_leave_a_note_each() -> None:
    done = await run([Step("a", add("a")), Step("b", add("b"))], Value())
    assert done.words == ("a", "b")
    assert [(n.step, n.outcome) for n in done.notes] == [("a", "ok"), ("b", "ok")]
    assert all(n.seconds >= 0 for n in done.notes)


@pytest.mark.requirement("M12")
async def test_a_step_that_fails_leaves_the_value_before_it() -> None:
    steps = [Step("a", add("a")), Step("b", fail(KeyError("secret"))), Step("c", add("c"))]
    done = await run(steps, Value())
    assert done.words == ("a", "c")
    assert (done.notes[1].outcome, done.notes[1].reason) == ("failed", "KeyError")
    assert "secret" not in repr(done)


@pytest.mark.requirement("M12")
async def test_a_step_that_is_late_leaves_the_value_before_it() -> None:
    done = await run([Step("a", slow, budget=0.01), Step("b", add("b"))], Value())
    assert done.words == ("b",)
    assert (done.notes[0].outcome, done.notes[0].seconds < 5) == ("late", True)


async def test_a_vital_step_fails_closed() -> None:
    with pytest.raises(RejectedError) as caught:
        await run([Step("a", fail(KeyError("secret")), vital=True)], Value())
    assert (caught.value.status, "secret" in caught.value.message) == (500, False)
    with pytest.raises(StoreError):
        await run([Step("a", fail(StoreError("down")), vital=True)], Value())
    with pytest.raises(RejectedError):
        await run([Step("a", slow, budget=0.01, vital=True)], Value())


@pytest.mark.parametrize("vital", [True, False])
async def test_a_rejection_is_a_decision_and_never_swallowed(*, vital: bool) -> None:
    with pytest.raises(RejectedError) as caught:
        await run([Step("a", fail(RejectedError(401, "no")), vital=vital)], Value())
    assert caught.value.status == 401


async def test_cancellation_is_no_failure() -> None:
    task = asyncio.create_task(run([Step("a", slow)], Value()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
