"""The `inline` extractor: what the model that answered said is to be remembered (M28).

Its markers came with the answer and were taken out of it (`app.dialects.strip`). They are no more
than a proposal: each must quote the user's own words. Where there is none that can be read, or none
was asked for, the other extractor reads the turn instead, and it is counted.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from app.domain import Via
from app.memory.extract import actions, prompting
from app.memory.extract.classify import is_future
from app.memory.extract.dates import dated, mentions
from app.memory.extract.heuristic import LONG, extract
from app.metrics import INLINE

if TYPE_CHECKING:
    from datetime import datetime

    from app.domain import Learned, Turn
    from app.memory.extract.asking import Asking
    from app.memory.extract.detect import Languages
    from app.ports import Extract

# As much of a message as the rules read; a quote from further on is not found.
MAX_CHARS: Final = 12_000


class InlineExtractor:
    """Takes facts from the markers of a turn's answer."""

    def __init__(
        self, asking: Asking, otherwise: Extract, languages: Languages, *, max_facts: int
    ) -> None:
        self._asking = asking
        self._otherwise = otherwise
        self._languages = languages
        self._max_facts = max_facts

    async def __call__(self, turn: Turn) -> tuple[Learned, ...]:
        markers = turn.source.markers
        if markers is None:  # not asked: the answer had no room for it, or is not there yet
            return await self._otherwise(turn)
        read = [found for marker in markers if (found := actions.marked(marker)) is not None]
        if not read:
            INLINE.labels("malformed" if markers else "missed").inc()
            self._asking.left_out(turn.source.model)
            return await self._otherwise(turn)
        INLINE.labels("hit").inc()
        self._asking.gave(turn.source.model)
        proposed = [action for found in read for action in found]
        if len(turn.query) <= LONG:
            return self._facts(turn, proposed)
        return await asyncio.to_thread(self._facts, turn, proposed)

    def _facts(self, turn: Turn, proposed: list[actions.Action]) -> tuple[Learned, ...]:
        text = prompting.shown(turn.query, MAX_CHARS) if proposed else ""
        facts = (actions.learned(action, {}, text) for action in dict.fromkeys(proposed))
        kept = islice(filter(None, facts), self._max_facts)
        return tuple(_placed(fact, turn.at, self._languages) for fact in kept)


def _placed(item: Learned, at: datetime, languages: Languages) -> Learned:
    """The fact with its dates written for good, and with the slot that the rules see in its quote.

    The model was told neither the day nor the slots: both would cost tokens with every turn.
    """
    content = item.fact.content
    language = languages.of(content)
    days = mentions(content, at, language.dates, future=is_future(content, language))
    known = extract(item.quote, at, languages.of(item.quote))
    told = known[0] if len(known) == 1 else None
    fact = replace(
        item.fact,
        content=dated(content, days),
        slot=item.fact.slot or (told.fact.slot if told else None),
    )
    item = replace(item, fact=fact, via=Via.INLINE)
    if told is None:
        return item
    return replace(
        item,
        pool=told.pool,
        valid_from=told.valid_from,
        retracts=item.retracts or told.retracts,
        topic=told.topic,
    )
