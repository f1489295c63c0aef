"""What the model gets to read of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.domain import Exchange
    from app.ports import Gate


class Admit:
    """Asks the gate that the policy names."""

    def __init__(self, gates: Mapping[str, Gate]) -> None:
        self._gates = gates

    async def __call__(self, exchange: Exchange) -> Exchange:
        if not exchange.candidates or not exchange.policy.read:
            return exchange
        gate = self._gates[exchange.policy.gate]
        return replace(exchange, admitted=gate(exchange.policy, exchange.candidates, exchange.at))
