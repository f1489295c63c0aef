"""Extractors find what the user asserted in a turn (M28).

`EXTRACTORS` is the registry: a name to a factory of `app.ports.Extract`, which is given what there
is to build it of (`ExtractorSpec`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.memory.extract.asking import Asking
from app.memory.extract.detect import DEFAULT, languages
from app.memory.extract.heuristic import HeuristicExtractor
from app.memory.extract.inline import InlineExtractor
from app.memory.extract.language import load
from app.memory.extract.llm import ExtractorSpec, LlmExtractor

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.domain import Learned, Turn
    from app.ports import Extract


class NoExtractor:
    """Learns nothing."""

    async def __call__(self, turn: Turn) -> tuple[Learned, ...]:  # noqa: ARG002 the port's argument
        return ()


def _heuristic(_: ExtractorSpec) -> HeuristicExtractor:
    load(DEFAULT)  # now, not at the first turn
    return HeuristicExtractor(languages())


def _inline(spec: ExtractorSpec) -> InlineExtractor:
    most = spec.learning.max_facts
    return InlineExtractor(spec.asking, _heuristic(spec), languages(), max_facts=most)


EXTRACTORS: Final[dict[str, Callable[[ExtractorSpec], Extract]]] = {
    "heuristic": _heuristic,
    "llm": lambda spec: LlmExtractor(spec, otherwise=_heuristic(spec)),
    "inline": _inline,
    "none": lambda _: NoExtractor(),
}

__all__ = [
    "EXTRACTORS",
    "Asking",
    "ExtractorSpec",
    "HeuristicExtractor",
    "InlineExtractor",
    "LlmExtractor",
    "NoExtractor",
]
