from __future__ import annotations

import pytest

from app.memory.stores.edge import EdgeEngine
from app.memory.stores.engine import Engine
from app.memory.stores.inmemory import InMemoryEngine
from app.memory.stores.qdrant import QdrantEngine


@pytest.mark.parametrize("engine", [EdgeEngine, InMemoryEngine, QdrantEngine])
def test_an_engine_does_what_is_asked_and_little_else(engine: type) -> None:
    asked = {name for name in vars(Engine) if not name.startswith("_")}
    assert {name for name in vars(engine) if not name.startswith("_")} - {
        "close",
        "exclusive",
    } == asked
