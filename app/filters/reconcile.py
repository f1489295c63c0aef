"""What was learned, against what is known, into the store."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from uuid import NAMESPACE_URL, uuid5

from app.domain import Links, Memory, Origin, Pool, State, Times
from app.memory.history import created

if TYPE_CHECKING:
    from uuid import UUID

    from app.domain import Learned, Turn
    from app.memory.remember import Rememberer

_IDS: Final = uuid5(NAMESPACE_URL, "remora:turn")


class Remember:
    """Writes each fact of the turn, one after the other, so that they also meet each other."""

    def __init__(self, rememberer: Rememberer) -> None:
        self._rememberer = rememberer

    async def __call__(self, turn: Turn) -> Turn:
        stored: list[UUID] = []
        pending: list[UUID] = []
        for place, item in enumerate(turn.learned):
            memory, again = build(turn, item, place), turn.source.opening
            if item.topic is not None:
                over = await self._rememberer.ends(turn.owner, memory, item.topic)
                if item.withdraws:
                    await self._rememberer.withdraw(turn.owner, over, turn.owner.user)
                    continue
                links = replace(memory.links, supersedes=(*memory.links.supersedes, *over))
                memory = replace(memory, links=links)
            row = await self._rememberer.remember(turn.owner, memory, again=again)
            if row is not None:
                (pending if row.state is State.PENDING else stored).append(row.id)
        outcome = replace(turn.outcome, stored=tuple(stored), pending=tuple(pending))
        return replace(turn, outcome=outcome)


def build(turn: Turn, item: Learned, place: int = 0) -> Memory:
    """The memory that a fact of a turn becomes. Its id belongs to the turn: learned twice, one row.

    "The turn" is the conversation up to it, so a turn that is sent again is still the same one.
    Facts of one turn are a microsecond apart, so that they keep the order they were said in.
    """
    said_at = turn.at + timedelta(microseconds=place)
    owner, source = turn.owner, turn.source
    key = f"{owner.tenant}\0{owner.user}\0{source.turn_key}\0{item.fact.content}"
    return Memory(
        id=uuid5(_IDS, key),
        owner=owner,
        pool=pool_of(turn, item),
        fact=item.fact,
        state=item.state,
        times=Times(item.valid_from or turn.at, created_at=said_at, updated_at=said_at),
        origin=Origin(
            created_by=owner.user,
            created_via=item.via,
            app=source.app,
            conversation_id=source.conversation_id,
            source_turn=turn.id,
            quote=item.quote,
        ),
        links=Links(supersedes=item.about),
        history=created(said_at, owner.user, item.state),
    )


def pool_of(turn: Turn, item: Learned) -> Pool:
    """What is about the project goes to its pool, if there is one."""
    shared = item.pool is Pool.PROJECT and turn.owner.project is not None
    return Pool.PROJECT if shared else Pool.USER
