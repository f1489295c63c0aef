from __future__ import annotations

import pytest

from app.domain import Policy
from app.filters.explain import Explain
from app.filters.recall import Candidates
from app.memory.gates import GATES, GateSettings
from app.memory.stores.base import PayloadStore
from app.memory.stores.inmemory import InMemoryEngine
from app.ports import Store
from tests.build import ALICE, BOB, EMBED, KEY, a_memory, keep


@pytest.mark.requirement("M9", "M19")
async def test_the_policys_gate_decides_on_ones_own_memories() -> None:
    store: Store = PayloadStore(InMemoryEngine(), KEY)
    await keep(store, a_memory("The user has a dog."), a_memory("The user has a dog.", BOB))
    settings = GateSettings(count=len, floor=2.0)  # nothing is as near as that
    gates = {name: make(settings) for name, make in GATES.items()}
    reasons = {}
    for gate in gates:
        explain = Explain(Candidates(store, EMBED), gates, Policy(gate=gate), 10)
        (verdict,) = await explain(ALICE, "Do I have a dog?")
        assert verdict.memory.owner == ALICE
        reasons[gate] = verdict.reason
    assert reasons == {"heuristic": "relevance", "noop": None}
