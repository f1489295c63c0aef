from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain import MAX_QUOTE_CHARS, MemoryType, Owner, Policy, Pool, Source, Turn
from app.memory.extract import EXTRACTORS
from app.memory.extract.heuristic import extract
from app.memory.extract.tidy import MAX_FACTS
from tests.memory.extract.reading import AT, EN, learned, only, slots

ANY: Any = None


def test_one_sentence_gives_each_fact_with_its_slot_and_quote() -> None:
    found = learned("I'm Ana, I live in Lisbon and my dog is called Rex.")
    assert [(item.fact.content, item.fact.slot, item.quote) for item in found] == [
        ("The user's name is Ana.", "name", "I'm Ana"),
        ("The user lives in Lisbon.", "home_city", "I live in Lisbon"),
        ("The user's dog is called Rex.", "pet.dog.name", "my dog is called Rex"),
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Hi! I'm Uma Lind, a 41 year old nurse from Graz.",
         {"The user's name is Uma Lind.": "name", "The user is 41 years old.": "age",
          "The user is a nurse.": "job", "The user is from Graz.": "hometown"}),
        ("I'm a cook at Initech and I'm allergic to kiwi.",
         {"The user is a cook.": "job", "The user works at Initech.": "employer",
          "The user is allergic to kiwi.": "allergy"}),
        ("My sister Olga is a vet and she's from Graz.",
         {"The user's sister Olga is a vet.": None, "The user's sister Olga is from Graz.": None}),
        ("A friend of mine loves opera.", {"A friend of the user loves opera.": None}),
        ("Can you plan a dinner? I'm vegan and my husband hates soup.",
         {"The user is vegan.": "diet", "The user's husband hates soup.": None}),
        ("I tried skiing but it was too cold. It also hurt.",
         {"The user tried skiing but it was too cold. It also hurt.": None}),
        ("We use pnpm and our API runs on FastAPI.",
         {"The team uses pnpm.": "project.package_manager",
          "The project's API runs on FastAPI.": "project.backend"}),
        ("I'm 41, sorry, 42.", {"The user is 42 years old.": "age"}),
        ("I live in Boston, no wait, Cambridge.", {"The user lives in Cambridge.": "home_city"}),
        ("I live in Graz. No wait, I moved to Linz.", {"The user lives in Linz.": "home_city"}),
        ("I love Thai food.", {"The user loves Thai food.": "likes.thai_food"}),
        ("I can't stand Thai food any more.",
         {"The user can't stand Thai food any more.": "likes.thai_food"}),
        ("I own a bike.", {"The user owns a bike.": "owns.bike"}),
        ("I used to smoke but I quit.", {"The user used to smoke but they quit.": None}),
        ("I left Initech last year.", {"The user left Initech in 2025.": "employer"}),
        ("I work with Kubernetes every day.",
         {"The user works with Kubernetes every day.": None}),
        ("We use pnpm, not npm.", {"The team uses pnpm, not npm.": "project.package_manager"}),
        ("Our project uses Python 3.12.",
         {"The project uses Python 3.12.": "project.language"}),
        ("Tickets live in Jira.", {"The project's tickets live in Jira.": None}),
        ("Correction: my dog is called Max.", {"The user's dog is called Max.": "pet.dog.name"}),
        ("MY NAME IS JOHN AND I LIVE IN ROME",
         {"The user's name is john.": "name", "The user lives in rome.": "home_city"}),
        ("I sold my bike.", {"The user sold their bike.": "owns.bike"}),
        ("Remember that I sail every summer.", {"The user sails every summer.": None}),
    ],
)  # fmt: skip
def test_what_is_learned(text: str, found: dict[str, str | None]) -> None:
    assert slots(text) == found


@pytest.mark.requirement("M31")
@pytest.mark.parametrize(
    ("text", "content", "slot", "since"),
    [
        ("I moved to Porto last month.", "The user lives in Porto since October 2026.",
         "home_city", datetime(2026, 10, 1, tzinfo=UTC)),
        ("I started at Globex last week.", "The user works at Globex since the week of 2026-11-23.",
         "employer", datetime(2026, 11, 23, tzinfo=UTC)),
        ("I switched from VS Code to Neovim yesterday.",
         "The user switched from VS Code to Neovim on 2026-11-29.",
         "editor", datetime(2026, 11, 29, tzinfo=UTC)),
        ("Yesterday I ran 10k.", "On 2026-11-29 the user ran 10k.",
         None, datetime(2026, 11, 29, tzinfo=UTC)),
        ("My exam is next Friday.", "The user's exam is on 2026-12-04.", None, None),
    ],
)  # fmt: skip
def test_changes_and_events_are_dated(
    text: str, content: str, slot: str | None, since: datetime | None
) -> None:
    item = only(text)
    assert (item.fact.content, item.fact.slot, item.valid_from) == (content, slot, since)


@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("always use tabs", "code_style.indentation"),
        ("please answer in bullet points", "answer_style.format"),
        ("from now on keep answers short", "answer_style.length"),
    ],
)
def test_how_to_work_is_procedural(text: str, slot: str) -> None:
    item = only(text)
    assert (item.fact.type, item.fact.slot) == (MemoryType.PROCEDURAL, slot)


def test_a_wish_about_one_answer_is_no_rule() -> None:
    assert learned("Please answer in bullet points. What are the planets?") == ()
    assert learned("Answer in one sentence: what is a fjord?") == ()


def test_the_project_shares_only_what_is_its_own() -> None:
    said = "We use yarn. We use a tent. We deploy on Mondays. We never use Redux. Our cat is Tom."
    pools = {item.fact.content: item.pool for item in learned(said)}
    assert pools == {
        "The team uses yarn.": Pool.PROJECT,
        "The user and others use a tent.": Pool.USER,
        "The team deploys on Mondays.": Pool.PROJECT,
        "The team never uses Redux.": Pool.PROJECT,
        "The user's cat is called Tom.": Pool.USER,
    }


async def test_the_registry_has_one_that_learns_nothing() -> None:
    turn = Turn("r", AT, Owner("t", "u"), Policy(), Source(), "I live in Graz.", "You sail.")
    assert [i.fact.slot for i in await EXTRACTORS["heuristic"](ANY)(turn)] == ["home_city"]
    assert await EXTRACTORS["none"](ANY)(turn) == ()


async def test_a_long_message_is_read_beside_the_event_loop() -> None:
    query = "I live in Graz. " + "The sea is blue. " * 200
    turn = Turn("r", AT, Owner("t", "u"), Policy(), Source(), query)
    assert [i.fact.slot for i in await EXTRACTORS["heuristic"](ANY)(turn)] == ["home_city"]


@pytest.mark.requirement("M29")
async def test_what_the_assistant_said_is_nobodys_fact() -> None:
    said = "I live in a data centre and I would recurse on the tail."
    query = "explain how to reverse a list"
    turn = Turn("r", AT, Owner("t", "u"), Policy(), Source(), query, said)
    assert await EXTRACTORS["heuristic"](ANY)(turn) == ()


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    check(text)


WORDS = [
    "I live in Graz.\nNo wait, Linz.",
    "I",
    "I'm",
    "my",
    "we",
    "dog",
    "is",
    "called",
    "Pip",
    ",",
    ".",
    "and",
    "live",
    "in",
    "Graz",
]


@given(
    st.lists(st.sampled_from([*WORDS, "no wait", "always", "\n", '"', "yesterday"]), max_size=40)
)
def test_any_words_can_be_read(words: list[str]) -> None:
    check(" ".join(words))


@pytest.mark.parametrize(
    "piece",
    ["I am ", "my ", "I am. ", "I live in A ", "I have a dog ", "always ", ", ", "- ", "I'm a-",
     "actually ", "no wait, ", "because I ", "I love big-", "on May 5 ", "you and I "],
)  # fmt: skip
def test_hostile_texts_teach_little(piece: str) -> None:
    check(piece * 20_000)
    check((piece * 90)[:590] + ". I " + (piece * 90)[:580])


def check(text: str) -> None:
    found = extract(text, AT, EN)
    assert len(found) <= MAX_FACTS
    for item in found:
        assert 0 < len(item.fact.content) <= 4_000
        assert len(item.quote) <= MAX_QUOTE_CHARS
        assert item.quote in text
