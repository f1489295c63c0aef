"""Who is asking. Vital: a wrong proof ends the call here."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.domain import Exchange
    from app.identity import Authenticator


class Identify:
    """Puts the `Identity` on the exchange; None stays None (M5)."""

    def __init__(self, authenticate: Authenticator) -> None:
        self._authenticate = authenticate

    async def __call__(self, exchange: Exchange) -> Exchange:
        end_user = exchange.call.end_user if exchange.call else None
        return replace(exchange, identity=self._authenticate(exchange.arrival, end_user))
