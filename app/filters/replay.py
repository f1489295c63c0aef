"""What earlier calls put onto earlier turns, put there again, byte for byte (M24)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.domain import Placed, Placement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.domain import Exchange
    from app.ports import Dialect, Pins


class Replay:
    """Looks up the pins of the conversation's turns, and attaches their blocks."""

    def __init__(self, pins: Pins, dialects: Mapping[str, Dialect]) -> None:
        self._pins = pins
        self._dialects = dialects

    async def __call__(self, exchange: Exchange) -> Exchange:
        owner, call = exchange.owner, exchange.call
        if owner is None or call is None or not pinned(exchange):
            return exchange
        known = await self._pins.get(owner, [turn.key for turn in call.turns])
        placed = tuple(
            Placed(turn, known[turn.key], replayed=True) for turn in call.turns if turn.key in known
        )
        if not placed:
            return exchange
        blocks = {one.turn.place: one.block.text for one in placed}
        body = self._dialects[call.dialect].write(call, blocks)
        return replace(exchange, call=replace(call, body=body), blocks=placed)


class Pin:
    """Keeps the new block for the calls to come; it lives no longer than what it says is true."""

    def __init__(self, pins: Pins) -> None:
        self._pins = pins

    async def __call__(self, exchange: Exchange) -> Exchange:
        owner, block, call = exchange.owner, exchange.block, exchange.call
        if owner is None or call is None or call.turn is None or block is None:
            return exchange
        if pinned(exchange):
            shown = (item.memory for item in exchange.admitted if item.memory.id in block.ids)
            ends = [memory.times.valid_to for memory in shown if memory.times.valid_to]
            await self._pins.put(owner, call.turn.key, block, min(ends, default=None))
        return exchange


def pinned(exchange: Exchange) -> bool:
    """Whether blocks stay on their turns on this call."""
    return exchange.policy.read and exchange.policy.placement is Placement.PREFIX_STABLE


def settled(exchange: Exchange) -> bool:
    """Whether the current turn has all that it gets: its block, or in a tool loop none."""
    call = exchange.call
    if call is None or not pinned(exchange):
        return False
    return not call.fresh or any(placed.turn == call.turn for placed in exchange.blocks)
