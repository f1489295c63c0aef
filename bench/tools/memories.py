"""The product's own way from words to what the model reads, as a stage for the recall benchmark.

The store is the embedded one in a folder that is thrown away; the encoder, the recall filter and
the gate are those that serve.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import NAMESPACE_URL, UUID, uuid5

from app.domain import (
    Arrival,
    Call,
    Change,
    Exchange,
    Fact,
    Identity,
    Memory,
    MemoryType,
    Origin,
    Owner,
    Policy,
    Pool,
    State,
    Times,
)
from app.filters.recall import Candidates, Recall
from app.memory.embed import Encoder, Lexical, Model
from app.memory.gates import GATES, GateSettings
from app.memory.stores.base import PayloadStore
from app.memory.stores.edge import EdgeEngine
from app.memory.tokens import token_counter
from app.settings import RecallSettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from app.domain import Admitted, Candidate, Message, Vectors
    from app.ports import Embed

NOW: Final = datetime(2026, 11, 30, 12, tzinfo=UTC)
TENANT: Final = "bench"
ARRIVAL: Final = Arrival("POST", b"/v1/chat/completions", b"", ())
# As they are shipped; how deep a search looks is told beside the figures.
SETTINGS: Final = RecallSettings()
POLICY: Final = Policy(gate=SETTINGS.gate, limit=SETTINGS.limit, max_tokens=SETTINGS.max_tokens)
_BURST: Final = 256


@dataclass(frozen=True, slots=True)
class Said:
    """A message that is to be found again, and what it stood in.

    `context`: what an index may hold beside the message: the turn before it in talk between two
    people, the head of the answer in talk with an assistant.
    """

    key: str
    text: str
    session: str
    at: datetime
    context: str = ""


def as_memory(owner: Owner, said: Said) -> Memory:
    """A message as an episode of its own; its id tells the same message again."""
    return Memory(
        id=uuid5(NAMESPACE_URL, f"{owner.user}/{said.key}"),
        owner=owner,
        pool=Pool.USER,
        fact=Fact(said.text, MemoryType.EPISODIC),
        state=State.ACTIVE,
        times=Times(said.at, said.at, said.at),
        origin=Origin(owner.user, conversation_id=said.session, source_turn=said.key),
    )


async def index(embed: Embed, messages: Sequence[Said]) -> list[Vectors]:
    """What a message is found by: itself and what it stood in, as the product's excerpts hold both.

    An excerpt of a turn is the user's words and the head of the answer; in talk between two people
    it is the turn before.
    """
    whole = [f"{said.context}\n{said.text}".strip() for said in messages]
    return await embed.documents(whole, [said.text for said in messages])


def as_fact(owner: Owner, content: str, *, at: datetime = NOW, **fact: Any) -> Memory:  # noqa: ANN401
    """A statement about its owner; any field of `Fact` may be given."""
    return Memory(
        id=uuid5(NAMESPACE_URL, f"{owner.user}/{content}"),
        owner=owner,
        pool=Pool.USER,
        fact=Fact(content, **fact),
        state=State.ACTIVE,
        times=Times(at, at, at),
        origin=Origin(owner.user),
    )


class Stage:
    """A store with the steps around it."""

    def __init__(self, store: PayloadStore[Any], embed: Encoder, floor: float) -> None:
        self.store = store
        self.embed = embed
        self.floor = floor
        self.count = token_counter()
        self.rules = GateSettings(self.count, floor)
        self.gates = {name: make(self.rules) for name, make in GATES.items()}

    async def hear(self, owner: Owner, messages: Sequence[Said]) -> dict[str, UUID]:
        """Keep messages, each as a memory; the id of each."""
        # Texts of a length share a batch of the encoder.
        messages = sorted(messages, key=lambda said: len(said.text))
        memories = [as_memory(owner, said) for said in messages]
        for start in range(0, len(messages), _BURST):
            vectors = await index(self.embed, messages[start : start + _BURST])
            await self._save(owner, memories[start : start + _BURST], vectors)
        return {said.key: memory.id for said, memory in zip(messages, memories, strict=True)}

    async def know(self, *memories: Memory) -> None:
        """Keep statements."""
        vectors = await self.embed.documents([memory.fact.content for memory in memories])
        whose: dict[Owner, list[tuple[Memory, Vectors]]] = defaultdict(list)
        for memory, vector in zip(memories, vectors, strict=True):
            whose[memory.owner].append((memory, vector))
        for owner, pairs in whose.items():
            await self._save(owner, [m for m, _ in pairs], [v for _, v in pairs])

    async def _save(
        self, owner: Owner, memories: Sequence[Memory], vectors: Sequence[Vectors]
    ) -> None:
        changes = [Change(m, v) for m, v in zip(memories, vectors, strict=True)]
        if not all(await self.store.save(owner, changes)):
            raise RuntimeError("a memory was not saved: is it there twice?")

    async def candidates(
        self,
        owner: Owner,
        question: str,
        limit: int = SETTINGS.candidates,
        recent: tuple[Message, ...] = (),
    ) -> tuple[Candidate, ...]:
        """What the recall filter finds for a call, with its evidence, best first."""
        call = Call("chat", "", b"", query=question, recent=recent)
        exchange = Exchange("bench", NOW, ARRIVAL, call, Identity(owner.tenant, owner))
        recall = Recall(Candidates(self.store, self.embed), limit=limit)
        return (await recall(exchange)).candidates

    def admitted(
        self,
        candidates: Sequence[Candidate],
        policy: Policy | None = None,
        now: datetime = NOW,
    ) -> tuple[Admitted, ...]:
        """What the gate lets in; under the shipped policy, if none is given."""
        policy = policy or POLICY
        return self.gates[policy.gate](policy, candidates, now)


@asynccontextmanager
async def stage(model: Model) -> AsyncIterator[Stage]:
    """An empty embedded store, thrown away in the end."""
    with tempfile.TemporaryDirectory(prefix="remora-recall-") as folder:
        engine = EdgeEngine(Path(folder) / "store", model.shape)
        embed = Encoder(model, Lexical())
        try:
            yield Stage(PayloadStore(engine, b"bench"), embed, model.floor)
        finally:
            embed.close()
            await engine.close()
