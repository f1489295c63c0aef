"""What to search for, in a model's words: an optional step of its own, before recall.

Whatever goes wrong, the turn's own words are searched for, and it is counted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from app.filters.replay import settled
from app.memory.query import is_small_talk
from app.metrics import REWRITE

if TYPE_CHECKING:
    from app.domain import Exchange
    from app.memory.rewrite import Rewriter

_log = structlog.get_logger()


class Rewrite:
    """Puts the rewritten query onto the current turn, where something will be searched for."""

    def __init__(self, rewriter: Rewriter) -> None:
        self._rewriter = rewriter

    async def __call__(self, exchange: Exchange) -> Exchange:
        call = exchange.call
        if call is None or call.turn is None or not _searched(exchange):
            return exchange
        outcome, query = await self._rewriter(call)
        REWRITE.labels(outcome).inc()
        if query is None:
            _log.warning("rewrite", outcome=outcome, id=exchange.id)
            return exchange
        turns = (*call.turns[:-1], replace(call.turn, rewritten=query))
        return replace(exchange, call=replace(call, turns=turns))


def _searched(exchange: Exchange) -> bool:
    """Whether the call recalls anything (M10, M13), and the policy lets a model be asked."""
    policy, call = exchange.policy, exchange.call
    allowed = exchange.owner is not None and policy.read and policy.rewrite
    return allowed and not settled(exchange) and call is not None and not is_small_talk(call.query)
