from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import pytest

from app.domain import Admitted, Arrival, Block, Call, Candidate, Exchange, Policy, UserTurn
from app.filters.gate import Admit
from app.memory.gates import GateSettings
from app.memory.gates.noop import NoopGate
from tests.build import START, a_memory

MEMORY = a_memory("The user likes tea.")
GIVEN = Exchange("r", START, Arrival("POST", b"/", b"", ()), candidates=(Candidate(MEMORY, {}),))


async def test_the_policy_names_the_gate() -> None:
    admit = Admit(
        {
            "all": NoopGate(GateSettings(count=len, floor=0.0)),
            "none": NoopGate(GateSettings(count=lambda _: 9_999, floor=0.0)),
        },
        2048,
    )
    open_gate = replace(GIVEN, policy=Policy(gate="all"))
    assert (await admit(open_gate)).admitted == (Admitted(MEMORY, MEMORY.fact.content),)
    assert (await admit(replace(GIVEN, policy=Policy(gate="none")))).admitted == ()
    unread = replace(GIVEN, policy=Policy(gate="all", read=False))
    assert (await admit(unread)).admitted == ()


@pytest.mark.requirement("M20", "M24")
async def test_a_conversation_has_a_budget_of_its_own() -> None:
    seen: list[int] = []

    class Looking(NoopGate):
        def __call__(
            self, policy: Policy, candidates: Sequence[Candidate], now: datetime
        ) -> tuple[Admitted, ...]:
            seen.append(policy.max_tokens)
            return super().__call__(policy, candidates, now)

    admit = Admit({"heuristic": Looking(GateSettings(len, 0.3))}, 100)
    turn = UserTurn(0, "k")
    used = UserTurn(0, "k", Block("…", (), 70))
    for turns in ((turn,), (used, turn), (used, used, turn)):
        call = Call("chat", "m", b"", turns=turns)
        await admit(replace(GIVEN, call=call, policy=Policy(max_tokens=60)))
    assert seen == [60, 30, -40]
