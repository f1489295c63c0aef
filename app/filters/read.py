"""What the client says: the body's bytes, read by their dialect. Vital: bad input ends here."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.dialects.encoding import decoded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.domain import Exchange
    from app.ports import Dialect


class Read:
    """Turns a call that is only bytes into one with meaning; others pass."""

    def __init__(self, dialects: Mapping[str, Dialect]) -> None:
        self._dialects = dialects

    async def __call__(self, exchange: Exchange) -> Exchange:
        if exchange.call is None:
            return exchange
        encoding = exchange.arrival.header(b"content-encoding") or ""
        body = decoded(exchange.call.body, encoding)
        if body is None:  # it passes as it is, the upstream may know better
            return replace(exchange, call=None)
        return replace(exchange, call=self._dialects[exchange.call.dialect].read(body))
