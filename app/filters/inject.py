"""The blocks onto their user turns; every other byte of the body stays (G2)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.domain import Placed
from app.memory.render import block

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from app.domain import Call, Exchange
    from app.ports import Dialect


class Inject:
    """Renders what was admitted and lets the dialect attach it, with the blocks of before."""

    def __init__(self, dialects: Mapping[str, Dialect], count: Callable[[str], int]) -> None:
        self._dialects = dialects
        self._count = count

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
        return replace(exchange, call=replace(call, body=body), blocks=tuple(blocks))

    def _new(self, exchange: Exchange, call: Call) -> Placed | None:
        """The current turn's block; none if it says what the turn was given before."""
        if call.turn is None or not exchange.admitted:
            return None
        before = call.turn.block
        if before and set(before.ids) == {item.memory.id for item in exchange.admitted}:
            return None
        attached = block(exchange.admitted, exchange.policy.max_tokens, self._count)
        return Placed(call.turn, attached) if attached else None
