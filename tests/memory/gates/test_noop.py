from __future__ import annotations

from app.domain import Candidate, Policy
from app.memory.gates import GateSettings
from app.memory.gates.noop import NoopGate
from tests.build import a_memory, later


def test_it_admits_what_the_heuristic_gate_would_not() -> None:
    gate = NoopGate(GateSettings(count=lambda text: len(text.split()), floor=0.3))
    far = Candidate(a_memory("Far away."), {"cosine": 0.0, "fused": 0.1})
    near = Candidate(a_memory("Near by."), {"cosine": 0.9, "fused": 0.9})
    admitted = gate(Policy(), [far, near], later(9))
    assert [item.text for item in admitted] == ["Near by.", "Far away."]
    assert len(gate(Policy(limit=1), [far, near], later(9))) == 1
