"""The blocks onto their user turns; every other byte of the body stays (G2).

What asks the model for markers (M28) is the end of a block, or a block by itself: so it is pinned
and comes back on its turn byte for byte. It counts as no memory: it has no ids and no tokens.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from app.domain import Block, Placed
from app.domain.marker import asks
from app.filters.replay import settled
from app.memory.query import is_small_talk
from app.memory.render import block
from app.metrics import INLINE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from app.domain import Call, Exchange
    from app.memory.extract import Asking
    from app.ports import Dialect

EXTRACTOR: Final = "inline"


class Inject:
    """Renders what was admitted and lets the dialect attach it, with the blocks of before."""

    def __init__(
        self,
        dialects: Mapping[str, Dialect],
        count: Callable[[str], int],
        asking: Asking | None = None,
    ) -> None:
        self._dialects = dialects
        self._count = count
        self._asking = asking

    async def __call__(self, exchange: Exchange) -> Exchange:
        call = exchange.call
        if call is None or call.turn is None:
            return exchange
        new = self._new(exchange, call)
        blocks = [
            Placed(turn, turn.block, replayed=True)
            for turn in call.turns
            if turn.block is not None and not (new and turn == call.turn)
        ]
        blocks += [new] if new else []
        if not blocks:
            return exchange
        texts = {placed.turn.place: placed.block.text for placed in blocks}
        body = self._dialects[call.dialect].write(call, texts)
        if blocks[-1].turn == call.turn and asks(blocks[-1].block.text):
            INLINE.labels("asked").inc()
        return replace(exchange, call=replace(call, body=body), blocks=tuple(blocks))

    def _new(self, exchange: Exchange, call: Call) -> Placed | None:
        """The current turn's block; none if it says what the turn was given before."""
        if call.turn is None:
            return None
        before = call.turn.block
        new = self._memories(exchange, before)
        base = new or before
        if self._asking and _asks(exchange, call) and not (base and asks(base.text)):
            new = _with(base, self._asking.text(call.model))
        return Placed(call.turn, new) if new else None

    def _memories(self, exchange: Exchange, before: Block | None) -> Block | None:
        if not exchange.admitted:
            return None
        if before and set(before.ids) == {item.memory.id for item in exchange.admitted}:
            return None
        return block(exchange.admitted, exchange.policy.max_tokens, self._count)


def _asks(exchange: Exchange, call: Call) -> bool:
    """Whether the answer is to hold markers. In a tool loop the turn has its block for good."""
    policy = exchange.policy
    if policy.extractor != EXTRACTOR or not policy.write or not call.roomy:
        return False
    return not settled(exchange) and not is_small_talk(call.query)


def _with(base: Block | None, ask: str) -> Block:
    return replace(base, text=f"{base.text}\n\n{ask}") if base else Block(ask, (), 0)
