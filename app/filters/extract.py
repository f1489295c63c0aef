"""What the user asserted in the turn, and the turn itself as an episode."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.domain.marker import unmarked
from app.memory.episodes import episode
from app.memory.render import without_blocks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.domain import Turn
    from app.ports import Extract


class Find:
    """Asks the extractor that the turn's policy names. What is ours is not read again (M29)."""

    def __init__(self, extractors: Mapping[str, Extract], *, episodes: bool) -> None:
        self._extractors = extractors
        self._episodes = episodes

    async def __call__(self, turn: Turn) -> Turn:
        before = (replace(said, text=_own(said.text)) for said in turn.source.before)
        source = replace(turn.source, before=tuple(before))
        turn = replace(turn, source=source, query=_own(turn.query), answer=unmarked(turn.answer))
        learned = await self._extractors[turn.policy.extractor](turn)
        turn = replace(turn, learned=learned)
        if self._episodes and (excerpt := episode(turn)) is not None:
            turn = replace(turn, learned=(*learned, excerpt))
        return turn


def _own(text: str) -> str:
    return unmarked(without_blocks(text))
