"""The block onto the user turn; every other byte of the body stays (G2)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.domain import Placed
from app.memory.render import block

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from app.domain import Exchange
    from app.ports import Dialect


class Inject:
    """Renders what was admitted and lets the dialect attach it."""

    def __init__(self, dialects: Mapping[str, Dialect], count: Callable[[str], int]) -> None:
        self._dialects = dialects
        self._count = count

    async def __call__(self, exchange: Exchange) -> Exchange:
        call = exchange.call
        if call is None or call.turn is None or not exchange.admitted:
            return exchange
        attached = block(exchange.admitted, exchange.policy.max_tokens, self._count)
        if attached is None:
            return exchange
        body = self._dialects[call.dialect].write(call, {call.turn.place: attached.text})
        blocks = (*exchange.blocks, Placed(call.turn, attached))
        return replace(exchange, call=replace(call, body=body), blocks=blocks)
