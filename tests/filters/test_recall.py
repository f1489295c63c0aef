from __future__ import annotations

from dataclasses import replace

import pytest

from app.domain import Arrival, Call, Exchange, Identity, Message, Owner, Policy, State
from app.filters.recall import Candidates, Recall
from app.memory.stores.base import PayloadStore
from app.memory.stores.inmemory import InMemoryEngine
from app.ports import Store
from tests.build import ALICE, BOB, EMBED, KEY, START, a_memory, keep


@pytest.fixture
async def store() -> Store:
    filled: Store = PayloadStore(InMemoryEngine(), KEY)
    await keep(
        filled,
        a_memory("The user's dog is called Rex.", slot="pet.dog.name"),
        a_memory("The user lives in Lisbon.", slot="home_city"),
        a_memory("The user lived in Boston.", slot="home_city", state=State.SUPERSEDED),
        a_memory("Answer in French.", pinned=True),
        a_memory("The user's dog is called Max.", BOB, slot="pet.dog.name"),
    )
    return filled


def asked(query: str, *before: str, owner: Owner = ALICE) -> Exchange:
    recent = tuple(Message("user", text) for text in before)
    call = Call("chat", "m", b"", query=query, recent=recent)
    return Exchange("r", START, Arrival("POST", b"/", b"", ()), call, Identity("acme", owner))


async def found(store: Store, exchange: Exchange) -> dict[str, dict[str, float]]:
    done = await Recall(Candidates(store, EMBED), limit=10)(exchange)
    return {c.memory.fact.content: dict(c.scores) for c in done.candidates}


@pytest.mark.requirement("M9", "M15")
async def test_both_searches_bring_evidence_of_the_owners_active_rows(store: Store) -> None:
    evidence = await found(store, asked("What is my dog called?"))
    assert evidence["The user's dog is called Rex."]["bm25"] > 0
    assert evidence["The user's dog is called Rex."]["cosine"] > 0.2
    assert "The user's dog is called Max." not in evidence
    assert "The user lived in Boston." not in evidence
    assert next(iter(evidence)) == "The user's dog is called Rex."


@pytest.mark.requirement("M16")
async def test_shared_words_are_counted_where_the_meaning_is_not_clear(store: Store) -> None:
    far = await found(store, asked("A long story of Rex in some wild mountains by the sea"))
    assert 0 < far["The user's dog is called Rex."]["coverage"] < 0.5
    assert "coverage" not in far["The user lives in Lisbon."]
    near = await found(store, asked("my dog is called Rex"))
    assert "coverage" not in near["The user's dog is called Rex."]


@pytest.mark.requirement("M18")
async def test_pinned_memories_are_always_candidates(store: Store) -> None:
    evidence = await found(store, asked("Explain how to reverse a list"))
    assert "Answer in French." in evidence


async def test_what_the_words_lean_on_is_a_candidate(store: Store) -> None:
    evidence = await found(store, asked("Is there a good park nearby?"))
    assert evidence["The user lives in Lisbon."]["cue"] == 1.0
    assert "The user lived in Boston." not in evidence


@pytest.mark.requirement("M14")
async def test_a_leaning_question_takes_the_turn_before_along(store: Store) -> None:
    evidence = await found(store, asked("And what is it called?", "I have a dog"))
    assert evidence["The user's dog is called Rex."]["bm25"] > 0


@pytest.mark.requirement("M13")
async def test_small_talk_is_not_searched_for(store: Store) -> None:
    done = await Recall(Candidates(store, EMBED), limit=10)(asked("thanks!"))
    assert (done.candidates, done.policy.read, done.policy.reason) == ((), False, "small_talk")
    assert done.policy.write is True


@pytest.mark.requirement("M5", "M10")
async def test_without_leave_or_owner_nothing_is_read(store: Store) -> None:
    recall = Recall(Candidates(store, EMBED), limit=10)
    allowed = asked("What is my dog called?")
    forbidden = replace(allowed, policy=Policy(read=False))
    nobody = replace(allowed, identity=None)
    assert (await recall(allowed)).candidates != ()
    assert await recall(forbidden) is forbidden
    assert await recall(nobody) is nobody


@pytest.mark.requirement("M16")
async def test_what_is_about_somebody_the_question_names_says_so(store: Store) -> None:
    await keep(store, a_memory("Maria likes long walks."), a_memory("The user likes long walks."))
    found = await Candidates(store, EMBED)(
        ALICE, "Which walks does Maria like?", "Which walks does Maria like?", 10
    )
    named = [c.memory.fact.content for c in found if c.scores.get("named")]
    assert named == ["Maria likes long walks."]
    assert len(found) > 1
