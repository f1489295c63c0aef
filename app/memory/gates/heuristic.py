"""The default gate: M19's rules, in M19's order, each a small pure function of `rules`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.memory.gates.budget import fit
from app.memory.gates.rules import (
    GateSettings,
    blocked,
    cut_at_gap,
    decayed,
    eligible,
    in_order,
    newest_per_slot,
    relevant,
    without_duplicates,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from app.domain import Admitted, Candidate, Policy

# Comparing each with each is quadratic; beyond this many the best are surely among them.
SHORTLIST: Final = 40


class HeuristicGate:
    """Eligible, not blocked, relevant; ordered; no duplicates; one value a slot; in budget."""

    def __init__(self, settings: GateSettings) -> None:
        self._settings = settings

    def __call__(
        self, policy: Policy, candidates: Sequence[Candidate], now: datetime
    ) -> tuple[Admitted, ...]:
        settings = self._settings
        floor = settings.floor if policy.threshold is None else policy.threshold
        kept = [
            decayed(candidate, now, settings.half_life)
            for candidate in candidates
            if eligible(candidate.memory, now)
            and not blocked(candidate.memory, settings.block)
            and relevant(candidate, floor)
        ]
        shortlist = cut_at_gap(in_order(kept))[: max(SHORTLIST, 2 * policy.limit)]
        chosen = without_duplicates(newest_per_slot(shortlist))
        return fit(chosen, policy.limit, policy.max_tokens, settings.count)
