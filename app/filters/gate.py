"""What the model gets to read of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.filters.replay import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.domain import Exchange
    from app.ports import Gate


class Admit:
    """Asks the gate that the policy names; a conversation has a token budget of its own (M24)."""

    def __init__(self, gates: Mapping[str, Gate], conversation_tokens: int) -> None:
        self._gates = gates
        self._conversation_tokens = conversation_tokens

    async def __call__(self, exchange: Exchange) -> Exchange:
        if not exchange.candidates or not exchange.policy.read:
            return exchange
        gate = self._gates[exchange.policy.gate]
        used = sum(block.tokens for block in shown(exchange.call)) if exchange.call else 0
        left = min(exchange.policy.max_tokens, self._conversation_tokens - used)
        policy = replace(exchange.policy, max_tokens=left)
        return replace(exchange, admitted=gate(policy, exchange.candidates, exchange.at))
