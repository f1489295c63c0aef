"""Gates decide, without a model call, which candidates the model gets to read.

`GATES` is the registry: a name to a factory of `app.ports.Gate`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.memory.gates.heuristic import HeuristicGate
from app.memory.gates.noop import NoopGate
from app.memory.gates.rules import GateSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.ports import Gate

GATES: Final[dict[str, Callable[[GateSettings], Gate]]] = {
    "heuristic": HeuristicGate,
    "noop": NoopGate,
}

__all__ = ["GATES", "GateSettings"]
