"""Admits whatever is eligible, in the order of the search, within the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.memory.gates.budget import fit
from app.memory.gates.rules import GateSettings, eligible, in_order
from app.memory.gates.verdicts import Verdicts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from app.domain import Admitted, Candidate, Policy, Verdict


class NoopGate:
    """For measuring what the heuristic gate does; state and validity still count (M2)."""

    def __init__(self, settings: GateSettings) -> None:
        self._settings = settings

    def __call__(
        self, policy: Policy, candidates: Sequence[Candidate], now: datetime
    ) -> tuple[Admitted, ...]:
        chosen = in_order([c for c in candidates if eligible(c.memory, now)])
        return fit(chosen, policy.limit, policy.max_tokens, self._settings.count)

    def explain(
        self, policy: Policy, candidates: Sequence[Candidate], now: datetime
    ) -> list[Verdict]:
        verdicts = Verdicts(candidates)
        kept = [c for c in candidates if eligible(c.memory, now)]
        chosen = in_order(verdicts.note("state", candidates, kept))
        return verdicts.of(chosen, self(policy, candidates, now))
