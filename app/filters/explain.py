"""What a call with a certain question would recall, and why not the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.domain import utc_now

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.domain import Owner, Policy, Verdict
    from app.filters.recall import Candidates
    from app.ports import Gate


class Explain:
    """The recall and the gate of a call, without the call."""

    def __init__(
        self, candidates: Candidates, gates: Mapping[str, Gate], policy: Policy, limit: int
    ) -> None:
        self._candidates = candidates
        self._gates = gates
        self._policy = policy
        self._limit = limit

    async def __call__(self, owner: Owner, question: str) -> list[Verdict]:
        """Every candidate with its scores: the admitted first, in the order they would be read."""
        found = await self._candidates(owner, question, question, self._limit)
        return self._gates[self._policy.gate].explain(self._policy, found, utc_now())
