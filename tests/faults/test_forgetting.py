"""What is deleted is gone at once, and from what was made of it."""

from __future__ import annotations

import pytest

from tests.faults.person import Person, user

QUESTION = "What is my dog called?"


@pytest.mark.fault(17)
@pytest.mark.parametrize("way", ["search", "list", "ask"])
async def test_a_deleted_memory_is_gone_at_once(ana: Person, way: str) -> None:
    async def found() -> str:
        if way == "search":
            answer = await ana.http.get("/v1/memory/search", params={"q": QUESTION})
            return answer.text
        return str(await ana.rows() if way == "list" else await ana.ask(QUESTION))

    (memory,) = await ana.keep("The user's dog is called Rex.")
    assert "Rex" in await found()
    await ana.http.delete(f"/v1/memory/{memory}")
    assert "Rex" not in await found()


@pytest.mark.fault(18)
@pytest.mark.parametrize("asked", [0, 1, 3])
async def test_nothing_made_of_a_fact_outlives_it(ana: Person, asked: int) -> None:
    """Its episode, and the blocks of a conversation, however long that is by then."""
    await ana.tell("My dog is called Rex. How do I teach a puppy to sit?")
    history = []
    for turn in range(asked):
        history += [user(f"{QUESTION} ({turn})"), {"role": "assistant", "content": "Hm."}]
        await ana.chat(*history[:-1])
        assert "Rex" in ana.upstream.last.body.decode()
    for row in await ana.rows(type="semantic"):
        await ana.http.delete(f"/v1/memory/{row['id']}")
    await ana.chat(*history, user(QUESTION))
    assert "Rex" not in ana.upstream.last.body.decode()
    assert "Rex" not in str(await ana.rows())


@pytest.mark.fault(20)
@pytest.mark.parametrize(
    "fields",
    [{}, {"type": "procedural", "pinned": True}, {"slot": "pet.dog.name"}],
)
async def test_the_id_that_was_given_is_taken(ana: Person, fields: dict[str, object]) -> None:
    await ana.keep("The user owns a boat.")
    made = await ana.http.post("/v1/memory", json={"content": "The dog is Rex.", **fields})
    path = f"/v1/memory/{made.json()['id']}"
    assert (await ana.http.delete(path)).json()["deleted"] is True
    assert (await ana.http.get(path)).status_code == 404
    assert (await ana.http.get("/v1/memory")).json()["total"] == 1
