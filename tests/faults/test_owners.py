"""What is one person's stays that person's."""

from __future__ import annotations

import asyncio

import pytest

from tests.faults.conftest import Meet
from tests.faults.person import Person, user

CROWD = 50


@pytest.mark.fault(11)
@pytest.mark.parametrize(
    "text", ["I prefer dark mode.", "My dog is called Rex.", "I am allergic to peanuts."]
)
async def test_the_same_words_are_a_row_for_each(meet: Meet, text: str) -> None:
    two = [await meet("sk-ana"), await meet("sk-ben")]
    for person in (*two, *two):
        await person.tell(text)
    for person in two:
        assert len(await person.facts()) == 1
    (mine,), (theirs,) = [await person.rows(type="semantic,procedural") for person in two]
    assert mine["id"] != theirs["id"]


async def seen(person: Person, *, stream: bool = False) -> str:
    """What went upstream for this person's call, found among the others by their name."""
    answer = await person.chat(user("What is my dog called?"), stream=stream)
    assert answer.headers["x-memory-status"] == "injected"
    key = person.http.headers["authorization"]
    sent = [r for r in person.upstream.requests if r.header("authorization") == key]
    return sent[-1].body.decode()


@pytest.mark.fault(12)
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("parallel", [False, True])
async def test_lines_do_not_mix_under_load(meet: Meet, *, parallel: bool, streamed: bool) -> None:
    dogs = {"sk-ana": "Rex", "sk-ben": "Max"}
    people = {key: await meet(key) for key in dogs}
    for key, dog in dogs.items():
        await people[key].keep(f"The user's dog is called {dog}.")
    keys = list(dogs) * 15
    if parallel:
        bodies = await asyncio.gather(*(seen(people[key], stream=streamed) for key in keys))
    else:
        bodies = [await seen(people[key], stream=streamed) for key in keys]
    for key, body in zip(keys, bodies, strict=True):
        other = next(dog for owner, dog in dogs.items() if owner != key)
        assert (dogs[key] in body, other in body) == (True, False)


@pytest.mark.fault(13)
@pytest.mark.parametrize("what", ["told", "asked", "listed"])
async def test_a_crowd_has_each_its_own(meet: Meet, what: str) -> None:
    crowd = [await meet(f"sk-{n}") for n in range(CROWD)]
    names = [f"Rex{n:03}" for n in range(CROWD)]
    if what == "told":
        told = [p.tell(f"My dog is called {n}.") for p, n in zip(crowd, names, strict=True)]
        await asyncio.gather(*told)
        found = [str(rows) for rows in await asyncio.gather(*(p.facts() for p in crowd))]
    else:
        for person, name in zip(crowd, names, strict=True):
            await person.keep(f"The user's dog is called {name}.")
        calls = (seen(p) if what == "asked" else p.facts() for p in crowd)
        found = [str(rows) for rows in await asyncio.gather(*calls)]
    for name, text in zip(names, found, strict=True):
        assert [n for n in names if n in text] == [name]


@pytest.mark.fault(16)
@pytest.mark.parametrize("how", ["everything", "one type", "one by one"])
async def test_deleting_ones_own_leaves_the_others(meet: Meet, how: str) -> None:
    ana, ben = await meet("sk-ana"), await meet("sk-ben")
    for person in (ana, ben):
        await person.keep("The user likes tea.", "The user owns a boat.")
    if how == "one by one":
        for row in await ana.rows():
            await ana.http.delete(f"/v1/memory/{row['id']}")
    else:
        params = {"all": "true"} if how == "everything" else {"type": "semantic"}
        assert (await ana.http.delete("/v1/memory", params=params)).json()["deleted"] == 2
    assert await ana.rows() == []
    assert len(await ben.rows()) == 2


@pytest.mark.fault(48)
@pytest.mark.parametrize(
    "headers",
    [{}, {"X-Memory-Conversation": "thread-1"}, {"X-OpenWebUI-Chat-Id": "thread-1"}],
)
async def test_who_goes_on_with_a_thread_gets_none_of_it(
    meet: Meet, headers: dict[str, str]
) -> None:
    ana, ben = await meet("sk-ana"), await meet("sk-ben")
    await ana.keep("The user's dog is called Rex.")
    first = user("What is my dog called?")
    await ana.chat(first, headers=headers)
    assert "Rex" in ana.upstream.last.body.decode()
    said = {"role": "assistant", "content": "I cannot tell."}
    answer = await ben.chat(first, said, user("And what is my dog called now?"), headers=headers)
    assert answer.headers["x-memory-status"] == "none"
    assert "Rex" not in ben.upstream.last.body.decode()
