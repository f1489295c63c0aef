"""What a gate did with each candidate, and why: for people who look into it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.domain import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from app.domain import Admitted, Candidate


class Verdicts:
    """Notes which rule each candidate fell to."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self._candidates = candidates
        self._reasons: dict[UUID, str] = {}

    def note(
        self, reason: str, before: Sequence[Candidate], after: list[Candidate]
    ) -> list[Candidate]:
        """What a rule left of what it was given."""
        kept = {candidate.memory.id for candidate in after}
        gone = (c.memory.id for c in before if c.memory.id not in kept)
        self._reasons.update(dict.fromkeys(gone, reason))
        return after

    def of(self, chosen: Sequence[Candidate], admitted: Sequence[Admitted]) -> list[Verdict]:
        """A verdict on each: the admitted in the order they are read, then the others as found."""
        scored = {candidate.memory.id: candidate for candidate in (*self._candidates, *chosen)}
        let_in = [item.memory.id for item in admitted]
        left = {c.memory.id: "budget" for c in chosen if c.memory.id not in let_in}
        reasons = self._reasons | left
        order = dict.fromkeys((*let_in, *(c.memory.id for c in self._candidates)))
        return [Verdict(scored[key].memory, scored[key].scores, reasons.get(key)) for key in order]
