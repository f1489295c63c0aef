from __future__ import annotations

from dataclasses import replace

from app.domain import Admitted, Arrival, Candidate, Exchange, Policy
from app.filters.gate import Admit
from tests.build import START, a_memory

MEMORY = a_memory("The user likes tea.")
GIVEN = Exchange("r", START, Arrival("POST", b"/", b"", ()), candidates=(Candidate(MEMORY, {}),))


async def test_the_policy_names_the_gate() -> None:
    admit = Admit(
        {
            "all": lambda _, found, __: tuple(Admitted(c.memory, "x") for c in found),
            "none": lambda *_: (),
        }
    )
    open_gate = replace(GIVEN, policy=Policy(gate="all"))
    assert (await admit(open_gate)).admitted == (Admitted(MEMORY, "x"),)
    assert (await admit(replace(GIVEN, policy=Policy(gate="none")))).admitted == ()
    unread = replace(GIVEN, policy=Policy(gate="all", read=False))
    assert (await admit(unread)).admitted == ()
