"""The recall benchmark itself: what it reads, how it counts, and that its parts run."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from app.domain import Candidate, Owner, Pool, State
from app.memory.embed import Embedding
from app.memory.embed.hashed import HashedModel
from bench.recall import parts
from bench.tools.embeddings import KeptModel
from bench.tools.memories import TENANT, Said, as_memory, stage
from bench.tools.ranking import WAYS, among, at, first_sessions, mean, percentile, within
from bench.tools.recall_facts import (
    FLOORS,
    TARGETED,
    Rates,
    everyday,
    facts,
    false_injection_part,
    highest,
    languages,
    languages_part,
)
from bench.tools.recall_precision import Case, Result
from bench.tools.recall_precision import as_memory as as_belief
from bench.tools.recall_speed import ASKED_WORDS, CHATS, FACTS, Words, gate_part
from bench.tools.recall_talks import longmemeval_part, measured, of_beam, of_locomo
from bench.tools.talks import Question, Talk, beam, locomo, longmemeval
from tests.build import START

ANA = Owner(TENANT, "ana")
MODEL = HashedModel()


def candidate(text: str, session: str = "1", **scores: float) -> Candidate:
    memory = as_memory(ANA, Said(text, text, session, START))
    return Candidate(memory, {"cosine": 0.0, "bm25": 0.0, "fused": 0.0, **scores})


CANDIDATES = (
    candidate("a", "1", cosine=0.9, bm25=1.0),
    candidate("b", "1", cosine=0.5, bm25=8.0),
    candidate("c", "2", cosine=0.1, bm25=0.0),
)


def ids(*texts: str) -> frozenset[UUID]:
    return frozenset(candidate(text).memory.id for text in texts)


def order(way: str) -> list[str]:
    return [c.memory.fact.content for c in WAYS[way](CANDIDATES)]


def test_each_way_orders_by_its_own_score() -> None:
    assert order("dense") == ["a", "b", "c"]
    assert order("BM25") == ["b", "a", "c"]
    assert order("weighted .5/.5") == ["b", "a", "c"]
    assert order("product") == ["a", "b", "c"]
    assert sorted(order("random")) == ["a", "b", "c"]


def test_what_is_counted() -> None:
    assert among(ids("a", "c"), at(2, CANDIDATES)) == 0.5
    assert first_sessions(5, CANDIDATES) == ["1", "2"]
    assert first_sessions(1, CANDIDATES) == ["1"]
    assert mean([1.0, 0.0]) == 50
    assert mean([]) == 0
    assert percentile([3.0, 1.0, 2.0], 0.99) == 3


def test_only_what_is_whole_in_a_block_counts() -> None:
    long = candidate("word " * 400)
    assert within(200, [candidate("a"), long], lambda text: len(text.split())) == list(ids("a"))


def test_a_precision_of_nothing_is_nothing() -> None:
    case = Case("u", (), "q", frozenset({"x", "y"}))
    assert Result(case, frozenset({"x", "z"}), 0, 0).precision == 0.5
    assert Result(case, frozenset({"x", "z"}), 0, 0).recall == 0.5
    assert Result(case, frozenset(), 0, 0).precision == 0


def test_beliefs_become_memories_of_their_owners() -> None:
    belief = {"user_id": "u", "pinned": True, "confidence": 0.5, "resolved_at": None}
    universal = as_belief(
        {**belief, "scope": ["user:universal"], "epistemic_status": "active"}, "One"
    )
    code = as_belief({**belief, "scope": ["code"], "epistemic_status": "superseded"}, "Two")
    assert (universal.pool, universal.state, universal.owner.project) == (
        Pool.USER,
        State.ACTIVE,
        None,
    )
    assert (code.pool, code.state, code.owner.user) == (Pool.PROJECT, State.SUPERSEDED, "u")


def test_the_curve_is_read_at_the_highest_floor_that_keeps_enough() -> None:
    curve = [Rates(0.1, 100, 50), Rates(0.2, 96, 10), Rates(0.3, 90, 1)]
    assert highest(curve).false == 10
    assert highest(curve[2:]).floor == 0.3
    assert min(FLOORS) == 0


def test_our_own_data_are_whole() -> None:
    known = facts()
    assert len({fact["content"] for fact in known}) == len(known) >= 60
    assert {fact["kind"] for fact in known} == {"direct", "paraphrase", "leaning"}
    prompts = everyday()
    assert len(set(prompts)) == len(prompts) >= 100
    pairs = languages()
    assert pairs.keys() >= {"en", "pt", "ja", *TARGETED}
    assert {len(both) for both in pairs.values()} == {25}


def test_locomo_is_read_with_its_corrections(tmp_path: Path) -> None:
    said = {"speaker": "Ana", "dia_id": "D1:1", "text": "Look.", "blip_caption": "a cat"}
    talk = {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [said, {"speaker": "Bo", "dia_id": "D1:2", "text": "Nice."}],
    }
    qa = [
        {"question": "Who?", "evidence": ["D1:2"], "category": 4},
        {"question": "What?", "evidence": ["D9:9"], "category": 5},
    ]
    corrections = [{"question_id": "locomo_0_qa0", "correct_evidence": ["D1:1; D1:2"]}]
    write(tmp_path / "locomo" / "locomo_conv1-5.json", [{"conversation": talk, "qa": qa}])
    write(tmp_path / "locomo" / "corrections_conv1-5.json", corrections)
    (read,) = locomo(tmp_path)
    first, second = read.messages
    assert first.text == "Ana: Look. [shared a photo: a cat]"
    assert (second.context, second.at.hour) == (first.text, 13)
    # Nothing that is kept answers the other one.
    assert read.questions == (Question("Who?", frozenset({"D1:1", "D1:2"}), "4 single hop"),)


def test_beam_is_read_with_the_head_of_each_answer(tmp_path: Path) -> None:
    turns = [
        {"role": "user", "id": 0, "content": "Hello ->-> 1,1", "time_anchor": "March-15-2024"},
        {"role": "assistant", "id": 1, "content": "x" * 900},
    ]
    asked = {"update": [{"question": "Q?", "source_chat_ids": {"old": [0], "new": [[1]]}}]}
    chat = {"chat": [{"turns": [turns]}], "probing_questions": asked}
    write(tmp_path / "beam100k" / "chat_1.json", chat)
    (read,) = beam(tmp_path)
    (message,) = read.messages
    assert (message.text, len(message.context), message.at.month) == ("Hello", 300, 3)
    assert read.questions == (Question("Q?", frozenset({"0"}), "update"),)


async def test_longmemeval_runs_from_its_public_format(tmp_path: Path) -> None:
    path = tmp_path / "longmemeval_s.json"
    sessions = [
        [{"role": "user", "content": "My parrot is called Kiwi."}],
        [{"role": "user", "content": "What is a monad?"}, {"role": "assistant", "content": "A …"}],
    ]
    row = {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "What is my parrot called?",
        "haystack_session_ids": ["s1", "s2"],
        "haystack_sessions": sessions,
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 02:21"],
        "answer_session_ids": ["s1"],
    }
    write(path, [row, row | {"question_id": "q2_abs"}])
    (talk,) = longmemeval(path, 10, seed=1)
    assert [message.at.day for message in talk.messages] == [20, 21]
    figures, _ = await longmemeval_part(MODEL, path)
    assert figures["longmemeval"]["product"]["session recall@5"] == 100  # type: ignore[index]


async def test_a_talk_is_measured_through_the_products_steps() -> None:
    messages = [Said(f"{n}", f"Note {n} of this talk", str(n), START) for n in range(30)]
    messages.append(Said("cat", "Ana: my cat Pixel sleeps", "9", START))
    questions = (Question("Where does the cat Pixel sleep?", frozenset({"cat"}), "4 single hop"),)
    talks = [Talk("t", tuple(messages), questions)]
    seen = await measured(MODEL, talks, of_locomo)
    assert seen["product"]["R@10"] == [1.0]
    assert seen["product"]["in 512 tokens"] == [1.0]
    assert seen["product"]["through the gate"] == [1.0]
    assert (await measured(MODEL, talks, of_beam))["BM25"]["R@10: 4 single hop"] == [1.0]


async def test_the_parts_on_our_own_data_run(capsys: pytest.CaptureFixture[str]) -> None:
    figures, targets = await false_injection_part(MODEL)
    assert len(figures["false_injection"]["curve"]) == len(FLOORS)  # type: ignore[index]
    figures, more = await languages_part(MODEL)
    assert figures["languages"]["en/en"] > 50  # type: ignore[index]
    _, last = await gate_part(MODEL, rounds=5)
    names = [target.name for target in (*targets, *more, *last)]
    assert len(names) == len(set(names))
    assert "104 everyday prompts" in capsys.readouterr().out


def test_without_the_public_data_it_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = list(parts(MODEL, quick=True, data=tmp_path / "absent"))
    for part in left:
        part.close()  # type: ignore[attr-defined]
    assert len(left) == 3
    assert "is absent" in capsys.readouterr().out


@pytest.mark.parametrize(("words", "share"), [(CHATS, 0.63), (FACTS, 0.02)])
def test_drawn_words_are_shared_as_counted(words: Words, share: float) -> None:
    chance = np.random.default_rng(1)
    texts = [set(words.sparse(chance).indices) for _ in range(500)]
    questions = [words.sparse(chance, ASKED_WORDS).indices for _ in range(100)]
    shared = [not text.isdisjoint(question) for text in texts for question in questions]
    assert sum(shared) / len(shared) == pytest.approx(share, abs=0.05)


async def test_a_stage_is_the_products_store_and_is_thrown_away() -> None:
    async with stage(MODEL) as built:
        kept = await built.hear(ANA, [Said("k", "The kettle is blue", "1", START)])
        (found,) = await built.candidates(ANA, "Which colour has the kettle?")
        assert found.memory.id == kept["k"]
        assert await built.candidates(Owner(TENANT, "bo"), "Which colour has the kettle?") == ()


def test_kept_embeddings_are_those_of_the_model(tmp_path: Path) -> None:
    texts = ["one", "two", "one"]
    fresh = KeptModel(MODEL, tmp_path).embed(texts)
    again = KeptModel(Unable(), tmp_path).embed(texts)
    assert list(map(as_lists, fresh)) == list(map(as_lists, MODEL.embed(texts)))
    assert list(map(as_lists, again)) == list(map(as_lists, fresh))


def as_lists(made: Embedding) -> list[list[float] | None]:
    parts = (made.dense, made.tokens, made.multilingual)
    return [None if part is None else part.tolist() for part in parts]


class Unable(HashedModel):
    """The same model, which can embed nothing any more."""

    def embed(self, texts: object) -> list[Embedding]:
        raise AssertionError(texts)


def write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
