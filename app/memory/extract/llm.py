"""The `llm` extractor: asks a model what the user asserted, after the answer is out (M28).

Whatever goes wrong, the other extractor reads the turn instead, and it is counted.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

import structlog

from app.domain import MemoryType, State, Where
from app.memory.chat_model import ChatModel
from app.memory.extract import actions, prompting
from app.memory.extract.asking import Asking
from app.memory.extract.heuristic import LONG
from app.memory.query import is_small_talk
from app.metrics import EXTRACTOR
from app.ports import Embed, Store, Upstream
from app.settings import LearningSettings

if TYPE_CHECKING:
    from app.domain import Learned, Memory, Owner, Turn
    from app.memory.chat_model import Message
    from app.ports import Extract

_log = structlog.get_logger()
NEIGHBOURS: Final = 8
_ACTIVE: Final = Where(
    states=frozenset({State.ACTIVE}),
    types=frozenset({MemoryType.SEMANTIC, MemoryType.PROCEDURAL}),
)


@dataclass(frozen=True, slots=True)
class ExtractorSpec:
    """What an extractor may be made of; most need none of it."""

    learning: LearningSettings
    upstream: Upstream
    store: Store
    embed: Embed
    asking: Asking


class LlmExtractor:
    """Shows a model the user's words and the memories near them, and takes what it answers."""

    def __init__(self, spec: ExtractorSpec, otherwise: Extract) -> None:
        self._spec = spec
        self._llm = spec.learning.llm
        parameters = prompting.parameters(self._llm.max_tokens)
        wanted = self._llm.upstream
        self._model = ChatModel(spec.upstream, self._llm.model or "", wanted, parameters)
        self._otherwise = otherwise

    async def __call__(self, turn: Turn) -> tuple[Learned, ...]:
        text = await _shown(turn.query, self._llm.max_chars)
        if is_small_talk(text):
            return ()
        known = await self._known(turn.owner, text)
        outcome, found = await self._within_time(prompting.messages(text, turn.at, known))
        EXTRACTOR.labels("llm", outcome).inc()
        if outcome != "ok":
            _log.warning("extractor", extractor="llm", outcome=outcome, id=turn.id)
            return await self._otherwise(turn)
        facts = (actions.learned(action, known, text) for action in found)
        return tuple(islice(filter(None, facts), self._spec.learning.max_facts))

    async def _known(self, owner: Owner, text: str) -> dict[str, Memory]:
        """The nearest memories under short ids: a model never sees, or makes up, a real one."""
        vectors = await self._spec.embed.query(text)
        near = await self._spec.store.search(owner, vectors, _ACTIVE, NEIGHBOURS)
        return {f"m{place}": candidate.memory for place, candidate in enumerate(near, 1)}

    async def _within_time(self, conversation: list[Message]) -> tuple[str, list[actions.Action]]:
        try:
            async with asyncio.timeout(self._llm.timeout):
                return await self._asked(conversation)
        except TimeoutError:
            return "late", []

    async def _asked(self, conversation: list[Message]) -> tuple[str, list[actions.Action]]:
        """How it went and what was found; an answer that cannot be read is asked for once more."""
        for asked in (conversation, prompting.nudged(conversation)):
            said = await self._model.ask(asked)
            if said.outcome != "ok":
                return said.outcome, []
            if (found := actions.parse(said.text)) is not None:
                return "ok", found
        return "malformed", []


async def _shown(query: str, limit: int) -> str:
    if len(query) <= LONG:
        return prompting.shown(query, limit)
    return await asyncio.to_thread(prompting.shown, query, limit)
