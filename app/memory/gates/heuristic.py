"""The default gate: M19's rules, in M19's order, each a small pure function of `rules`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.memory.gates.budget import fit
from app.memory.gates.rules import (
    GateSettings,
    blocked,
    cut_at_gap,
    eligible,
    newest_per_slot,
    ranked,
    relevant,
    without_duplicates,
)
from app.memory.gates.verdicts import Verdicts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from app.domain import Admitted, Candidate, Policy, Verdict

    Note = Callable[[str, Sequence[Candidate], list[Candidate]], list[Candidate]]

# Comparing each with each is quadratic; beyond this many the best are surely among them.
SHORTLIST: Final = 40


class HeuristicGate:
    """Eligible, not blocked, relevant; ordered; no duplicates; one value a slot; in budget."""

    def __init__(self, settings: GateSettings) -> None:
        self._settings = settings

    def __call__(
        self, policy: Policy, candidates: Sequence[Candidate], now: datetime
    ) -> tuple[Admitted, ...]:
        chosen = without_duplicates(self._ranked(policy, candidates, now, _unnoted))
        return fit(chosen, policy.limit, policy.max_tokens, self._settings.count)

    def explain(
        self, policy: Policy, candidates: Sequence[Candidate], now: datetime
    ) -> list[Verdict]:
        verdicts = Verdicts(candidates)
        ranked = self._ranked(policy, candidates, now, verdicts.note)
        chosen = verdicts.note("duplicate", ranked, list(without_duplicates(ranked)))
        admitted = fit(chosen, policy.limit, policy.max_tokens, self._settings.count)
        return verdicts.of(chosen, admitted)

    def _ranked(
        self, policy: Policy, candidates: Sequence[Candidate], now: datetime, note: Note
    ) -> list[Candidate]:
        """What may be admitted, best first; `note` hears what each rule leaves."""
        settings = self._settings
        floor = settings.floor if policy.threshold is None else policy.threshold
        kept = note("state", candidates, [c for c in candidates if eligible(c.memory, now)])
        kept = note("blocked", kept, [c for c in kept if not blocked(c.memory, settings.block)])
        kept = note("relevance", kept, relevant(kept, floor))
        ordered = ranked(kept, now, settings)
        near = note("gap", ordered, cut_at_gap(ordered))
        short = note("rank", near, near[: max(SHORTLIST, 2 * policy.limit)])
        return note("slot", short, newest_per_slot(short))


def _unnoted(_: str, __: Sequence[Candidate], after: list[Candidate]) -> list[Candidate]:
    return after
