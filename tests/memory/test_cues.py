from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.memory.cues import CUES, SPECIES, cues

FOOD = {"diet", "allergy", "food_avoided"}


@pytest.mark.parametrize(
    ("question", "slots"),
    [
        ("What's a good park nearby for Rex?", {"home_city"}),
        ("any bakeries around here?", {"home_city"}),
        ("What’s the weather like today?", {"home_city"}),
        ("Do I need an umbrella?", {"home_city"}),
        ("Where do I live?", {"home_city"}),
        ("Give me a recipe for tonight", FOOD),
        ("which restaurant should we book", FOOD),
        ("a quick snack idea", FOOD),
        ("how do I install the dependencies?", {"project.package_manager"}),
        ("How do I install lodash?", {"project.package_manager"}),
        ("Give me the command to add lodash", {"project.package_manager"}),
        ("Which package manager do we use?", {"project.package_manager"}),
        ("which linter do we run", {"project.linter"}),
        ("Who am I?", {"name"}),
        ("where do i work", {"employer"}),
        ("What is my job?", {"job", "employer"}),
        ("how old am I", {"age", "birthday"}),
        ("a gift for my wife", {"partner.name"}),
        ("games for my kids", {"child.name"}),
        ("tricks for my dog", {"pet.dog", "pet.dog.name"}),
        ("cheap flights to Oslo", {"home_city", "nationality"}),
        ("how do we deploy?", {"project.deploy"}),
        ("which shortcut in my editor does that", {"editor"}),
        ("write a Python function that sorts names", {"code_style.indentation"}),
    ],
)
def test_what_a_question_leans_on(question: str, slots: set[str]) -> None:
    assert slots <= cues(question)


@pytest.mark.parametrize(
    "text",
    [
        "write a haiku about the sea",
        "explain how to reverse a list",
        "write a haiku about the weather",
        "call the weather API with a retry",
        "tell me a story about a dinner",
        "what is the history of restaurants",
        "translate the word lunch",
        "what is a monad?",
        "summarize the French revolution",
        "how to install a ceiling fan",
        "explain what a database is",
        "thanks",
        "",
    ],
)
def test_most_turns_lean_on_nothing(text: str) -> None:
    assert cues(text) == frozenset()


def test_a_script_in_no_named_language_leans_on_the_users_own() -> None:
    assert "programming_language" in cues("write a script that renames files")
    assert "programming_language" not in cues("write a Rust script that renames files")


def test_only_the_head_and_the_end_ask() -> None:
    material = "where do I live? " * 200
    assert cues("x " * 500 + material + "x " * 500) == frozenset()
    assert cues("x " * 5000 + "where do I live?") == {"home_city"}


def test_every_cue_names_slots() -> None:
    assert all(cue.slots for cue in CUES)
    assert len(set(SPECIES)) == len(SPECIES)


@given(st.text())
def test_any_text_may_be_asked(text: str) -> None:
    assert cues(text) <= frozenset().union(*(cue.slots for cue in CUES))
