"""What must not be kept, kept out, whatever the extractor."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.memory.guard import guard
from app.metrics import BLOCKED

if TYPE_CHECKING:
    from app.domain import Turn


class Guard:
    """Takes secrets out, lets doubtful orders wait, and bounds what one turn can teach."""

    def __init__(self, *, max_facts: int) -> None:
        self._max_facts = max_facts

    async def __call__(self, turn: Turn) -> Turn:
        guarded = guard(turn.learned, turn.query, limit=self._max_facts)
        for kind in guarded.blocked:
            BLOCKED.labels(kind).inc()
        outcome = replace(turn.outcome, blocked=guarded.blocked)
        return replace(turn, learned=guarded.kept, outcome=outcome)
