"""What earlier calls put onto the conversation's turns, to be put there again (M24, M25)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.domain import Placement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.domain import Block, Call, Exchange, UserTurn
    from app.ports import Pins


class Replay:
    """Looks up the blocks of the conversation's turns; `Inject` attaches them."""

    def __init__(self, pins: Pins) -> None:
        self._pins = pins

    async def __call__(self, exchange: Exchange) -> Exchange:
        owner, call = exchange.owner, exchange.call
        if owner is None or call is None or not pinned(exchange):
            return exchange
        known = await self._pins.get(owner, [turn.key for turn in call.turns])
        if not known:
            return exchange
        return replace(exchange, call=replace(call, turns=_with_blocks(call, known)))


class Recheck:
    """Once more, when recall is over: what was forgotten meanwhile must not go up (M40)."""

    def __init__(self, pins: Pins) -> None:
        self._pins = pins

    async def __call__(self, exchange: Exchange) -> Exchange:
        owner, call = exchange.owner, exchange.call
        if owner is None or call is None:
            return exchange
        if not any(turn.block for turn in call.turns):
            return exchange
        known = await self._pins.get(owner, [turn.key for turn in call.turns])
        return replace(exchange, call=replace(call, turns=_with_blocks(call, known)))


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
            until = min(ends, default=None)
            await self._pins.put(owner, call.turn.key, block, read=exchange.at, until=until)
        return exchange


def _with_blocks(call: Call, known: Mapping[str, Block]) -> tuple[UserTurn, ...]:
    return tuple(
        turn if turn.block is (block := known.get(turn.key)) else replace(turn, block=block)
        for turn in call.turns
    )


def pinned(exchange: Exchange) -> bool:
    """Whether blocks stay on their turns on this call."""
    return exchange.policy.read and exchange.policy.placement is Placement.PREFIX_STABLE


def settled(exchange: Exchange) -> bool:
    """Whether nothing is recalled: in a tool loop the turn has its block, or has none for good."""
    return exchange.call is not None and not exchange.call.fresh and pinned(exchange)


def shown(call: Call) -> list[Block]:
    """What this conversation has been shown before the turn that is being recalled for.

    A turn that comes anew may be a regeneration or another conversation with the same beginning.
    """
    turns = call.turns[:-1] if call.fresh else call.turns
    return [turn.block for turn in turns if turn.block is not None]
