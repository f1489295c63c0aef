"""Extractors find what the user asserted in a turn (M28).

`EXTRACTORS` is the registry: a name to a factory of `app.ports.Extract`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.memory.extract.heuristic import HeuristicExtractor
from app.memory.extract.language import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.domain import Learned, Turn
    from app.ports import Extract


class NoExtractor:
    """Learns nothing."""

    async def __call__(self, turn: Turn) -> tuple[Learned, ...]:  # noqa: ARG002 the port's argument
        return ()


EXTRACTORS: Final[dict[str, Callable[[], Extract]]] = {
    "heuristic": lambda: HeuristicExtractor(load("en")),
    "none": NoExtractor,
}

__all__ = ["EXTRACTORS", "HeuristicExtractor", "NoExtractor"]
