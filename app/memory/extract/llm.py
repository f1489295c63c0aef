"""The `llm` extractor: asks a model what the user asserted, after the answer is out (M28).

Whatever goes wrong, the other extractor reads the turn instead, and it is counted.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from http import HTTPStatus
from itertools import islice
from typing import TYPE_CHECKING, Final

import structlog

from app.domain import MemoryType, State, Where
from app.errors import RejectedError, UpstreamError
from app.memory.extract import actions, prompting
from app.memory.extract.asking import Asking
from app.memory.extract.heuristic import LONG
from app.memory.query import is_small_talk
from app.metrics import EXTRACTOR
from app.ports import Embed, Outgoing, Store, Upstream
from app.settings import LearningSettings

if TYPE_CHECKING:
    from app.domain import Learned, Memory, Owner, Turn
    from app.ports import Extract, Reply

_log = structlog.get_logger()
NEIGHBOURS: Final = 8
MAX_ANSWER_BYTES: Final = 262_144
MAX_COMPLAINT_BYTES: Final = 4_096
ATTEMPTS: Final = 2
_ACTIVE: Final = Where(
    states=frozenset({State.ACTIVE}),
    types=frozenset({MemoryType.SEMANTIC, MemoryType.PROCEDURAL}),
)
_HEADERS: Final = (
    (b"content-type", b"application/json"),
    (b"accept", b"application/json"),
    (b"accept-encoding", b"identity"),
    (b"user-agent", b"remora"),
)
_COMPLAINTS: Final = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})
_Answer = tuple[int, bytes]


@dataclass(frozen=True, slots=True)
class ExtractorSpec:
    """What an extractor may be made of; most need none of it."""

    learning: LearningSettings
    upstream: Upstream
    store: Store
    embed: Embed
    asking: Asking


class LlmExtractor:
    """Shows a model the user's words and the memories near them, and takes what it answers.

    What an upstream once refused to take is not sent to it again while the process lives.
    """

    def __init__(self, spec: ExtractorSpec, otherwise: Extract) -> None:
        self._spec = spec
        self._llm = spec.learning.llm
        self._parameters = prompting.parameters(self._llm.max_tokens)
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

    async def _within_time(
        self, conversation: list[prompting.Message]
    ) -> tuple[str, list[actions.Action]]:
        try:
            async with asyncio.timeout(self._llm.timeout):
                return await self._asked(conversation)
        except TimeoutError:
            return "late", []
        except (UpstreamError, RejectedError):
            return "unreachable", []

    async def _asked(
        self, conversation: list[prompting.Message]
    ) -> tuple[str, list[actions.Action]]:
        """How it went and what was found; an answer that cannot be read is asked for once more."""
        for asked in (conversation, prompting.nudged(conversation)):
            status, answer = await self._taken(asked)
            if status >= HTTPStatus.MULTIPLE_CHOICES:
                return ("failed" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "refused"), []
            if (found := actions.parse(actions.content(answer))) is not None:
                return "ok", found
        return "malformed", []

    async def _taken(self, conversation: list[prompting.Message]) -> _Answer:
        """The answer, with at most one more attempt without the parameters that were refused."""
        status, answer = 0, b""
        for _ in range(ATTEMPTS):
            status, answer = await self._sent(conversation)
            if status not in _COMPLAINTS:
                break
            complaint = answer[:MAX_COMPLAINT_BYTES].decode("utf-8", "replace")
            left = prompting.accepted(self._parameters, complaint)
            if left == self._parameters:
                break
            self._parameters = left
        return status, answer

    async def _sent(self, conversation: list[prompting.Message]) -> _Answer:
        model = self._llm.model or ""
        request = Outgoing(
            method="POST",
            path=b"/v1/chat/completions",
            query=b"",
            headers=_HEADERS,
            body=prompting.body(model, conversation, self._parameters),
            model=model,
            wanted=self._llm.upstream,
            rename=prompting.renamed,
            ours=True,
        )
        reply = await self._spec.upstream.send(request)
        try:
            return reply.status, await _read(reply)
        finally:
            reply.close()


async def _shown(query: str, limit: int) -> str:
    if len(query) <= LONG:
        return prompting.shown(query, limit)
    return await asyncio.to_thread(prompting.shown, query, limit)


async def _read(reply: Reply) -> bytes:
    """The answer, or as much of it as anybody would read."""
    answer = b""
    async for chunk in reply.chunks:
        answer += chunk
        if len(answer) > MAX_ANSWER_BYTES:
            break
    return answer[:MAX_ANSWER_BYTES]
