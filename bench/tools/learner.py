"""What the product learns: by its extractor alone, and through all of its own steps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from app.domain import Message, Owner, Policy, Source, State, Turn, Where
from app.filters import outbound
from app.memory.embed import Encoder, Lexical
from app.memory.embed.hashed import HashedModel
from app.memory.extract import HeuristicExtractor
from app.memory.extract.detect import Languages
from app.memory.extract.heuristic import extract
from app.memory.quota import Caps, Quota
from app.memory.remember import Rememberer
from app.memory.stores.base import PayloadStore
from app.memory.stores.inmemory import InMemoryEngine
from app.pipeline import run
from app.settings import LearningSettings, Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
ANA = Owner("bench", "ana")
LANGUAGES = Languages()


def heuristic(text: str, at: datetime = AT, before: Sequence[Message] = ()) -> list[str]:
    """What the product stores of one message, episodes aside; `before` is what came before it."""
    return [item.fact.content for item in extract(text, at, LANGUAGES.of(text), before)]


def moment(row: dict[str, Any]) -> datetime:
    """When a row of the project's own set was said."""
    return datetime.fromisoformat(row["at"]) if row.get("at") else AT


def earlier(row: dict[str, Any]) -> list[Message]:
    """The messages before a row."""
    return [Message(said["role"], said["text"]) for said in row.get("before") or ()]


async def remembered(
    turns: Sequence[str], first: datetime = AT, before: Sequence[Message] = ()
) -> list[str]:
    """What is active after these turns, a day apart, through the product's own steps.

    `before` is what came before the last of them in its conversation.
    """
    embed = Encoder(HashedModel(), Lexical())
    store: PayloadStore[Any] = PayloadStore(InMemoryEngine(), b"bench")
    settings = Settings(learning=LearningSettings(episodes=False))
    extractors = {"heuristic": HeuristicExtractor(LANGUAGES)}
    steps = outbound(settings, extractors, Rememberer(store, embed), Quota(store, Caps()))
    for number, text in enumerate(turns):
        at = first + timedelta(days=number)
        talk = tuple(before) if number == len(turns) - 1 else ()
        source = Source(turn_key=f"{number}:{text}", before=talk)
        await run(steps, Turn(f"t{number}", at, ANA, Policy(), source, text))
    found = await store.find(ANA, Where(states=frozenset({State.ACTIVE})))
    embed.close()
    return [memory.fact.content for memory in found.memories]
