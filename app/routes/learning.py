"""From a finished round to a turn in the spool."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from typing import TYPE_CHECKING, Final

import structlog

from app.domain import Answer, Message, Receipt, Source, Turn, utc_now
from app.errors import StoreError
from app.metrics import TURNS

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from uuid import UUID

    from app.domain import Call, Exchange, Owner
    from app.ports import Spool, Store

_log = structlog.get_logger()
CONVERSATION_HEADERS: Final = (b"x-memory-conversation", b"x-openwebui-chat-id")
MAX_ANSWER_CHARS: Final = 20_000
MAX_BEFORE_CHARS: Final = 500
USES_SECONDS: Final = 10.0


class Learning:
    """Keeps turns and counts uses. Never costs the caller the answer (M12)."""

    def __init__(self, spool: Spool, store: Store) -> None:
        self._spool = spool
        self._store = store
        self._background: set[asyncio.Task[None]] = set()
        self._uses: dict[Owner, Counter[UUID]] = {}
        self._closing = asyncio.Event()

    async def keep(self, exchange: Exchange, status: int, answer: Answer) -> None:
        """Put the round into the spool if it can teach something (M26), else give it a receipt."""
        owner, call = exchange.owner, exchange.call
        if owner is None or call is None:
            return
        ended = 200 <= status < 300 and answer.complete  # noqa: PLR2004 the class of success
        repeated = not call.fresh and answer.finish == "tool_calls" and not answer.markers
        try:
            if ended and not repeated:
                if not await self._spool.put(_turn(exchange, owner, answer)):
                    TURNS.labels("dropped").inc()
            else:
                await self._spool.done(Receipt(exchange.id, owner, "skipped", exchange.at))
                TURNS.labels("skipped").inc()
        except (StoreError, TypeError) as error:
            TURNS.labels("lost").inc()
            _log.warning("turn_lost", id=exchange.id, reason=str(error))

    def skip(self, exchange: Exchange) -> None:
        """Give a round that did not end properly its receipt, after the fact."""
        self._later(self.keep(exchange, 0, Answer()))

    def used(self, exchange: Exchange) -> None:
        """Count one use of each memory that the model was given; written a little later."""
        owner, block = exchange.owner, exchange.block
        if owner is None or block is None or not block.ids:
            return
        if not self._uses:
            self._later(self._write_uses())
        self._uses.setdefault(owner, Counter()).update(block.ids)

    async def close(self) -> None:
        """Wait for what runs in the background."""
        self._closing.set()
        await asyncio.gather(*self._background, return_exceptions=True)

    async def _write_uses(self) -> None:
        """All uses of a little while at once: one call may use a dozen memories."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(USES_SECONDS):
                await self._closing.wait()
        uses, self._uses = self._uses, {}
        for owner, counts in uses.items():
            try:
                await self._store.touch(owner, counts, utc_now())
            except StoreError as error:
                _log.warning("uses_not_counted", reason=str(error))

    def _later(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


def _turn(exchange: Exchange, owner: Owner, answer: Answer) -> Turn:
    call, arrival = exchange.call, exchange.arrival
    named = (arrival.header(name) for name in CONVERSATION_HEADERS)
    conversation = next(filter(None, named), None)
    return Turn(
        id=exchange.id,
        at=exchange.at,
        owner=owner,
        policy=exchange.policy,
        source=Source(
            app=exchange.identity.app if exchange.identity else None,
            model=_storable(call.model) if call else "",
            conversation_id=conversation,
            turn_key=f"{conversation or ''}:{call.turn.key if call and call.turn else ''}",
            opening=call is not None and conversation is None and call.opening,
            injected=exchange.block.ids if exchange.block else (),
            before=_before(call) if call else (),
            markers=None if answer.markers is None else tuple(map(_storable, answer.markers)),
        ),
        query=_storable(call.query) if call else "",
        answer=_storable(answer.text[:MAX_ANSWER_CHARS]),
    )


def _before(call: Call) -> tuple[Message, ...]:
    """How the user's last messages begin, and how the assistant's end: that is where it asks."""
    bounds = {"user": slice(MAX_BEFORE_CHARS), "assistant": slice(-MAX_BEFORE_CHARS, None)}
    return tuple(
        Message(said.role, _storable(said.text[bounds[said.role]]))
        for said in call.recent
        if said.role in bounds
    )


def _storable(text: str) -> str:
    """JSON may hold half of a surrogate pair; UTF-8 does not."""
    return text.encode("utf-8", "replace").decode()
