from __future__ import annotations

import json
from dataclasses import replace

import pytest

from app.dialects.chat import ChatDialect
from app.domain import Admitted, Arrival, Exchange, Policy
from app.filters.inject import Inject
from tests.build import START, a_memory

dialect = ChatDialect()
inject = Inject({"chat": dialect}, lambda text: len(text.split()))
BODY = b'{"messages": [{"role":"user","content":"Which park?"}]}'
MEMORY = a_memory("The user's dog is called Rex.")
GIVEN = Exchange(
    "r",
    START,
    Arrival("POST", b"/", b"", ()),
    call=dialect.read(BODY),
    admitted=(Admitted(MEMORY, MEMORY.fact.content),),
)


@pytest.mark.requirement("M11", "M23")
async def test_what_is_said_of_the_block_is_what_the_body_holds() -> None:
    done = await inject(GIVEN)
    assert done.block is not None
    assert done.call is not None
    text = json.loads(done.call.body)["messages"][0]["content"]
    assert text == f"Which park?\n\n{done.block.text}"
    assert done.block.ids == (MEMORY.id,)
    assert done.block.tokens == len(done.block.text.split())


async def test_nothing_admitted_leaves_the_very_bytes() -> None:
    assert await inject(replace(GIVEN, admitted=())) == replace(GIVEN, admitted=())


async def test_nothing_that_fits_leaves_the_very_bytes() -> None:
    tight = replace(GIVEN, policy=Policy(max_tokens=3))
    assert await inject(tight) == tight
