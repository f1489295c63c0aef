from __future__ import annotations

import pytest

from app.domain import MemoryType, Pool
from app.memory.extract.standing import standing, wish
from tests.memory.extract.reading import EN, one_clause

WANTS = "The user wants the assistant to"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("always use tabs", f"{WANTS} always use tabs."),
        ("please answer in bullet points", f"{WANTS} answer in bullet points."),
        ("from now on, keep answers short", f"{WANTS} keep answers short."),
        ("don't use emojis", f"{WANTS} not use emojis."),
        ("no emojis please", f"{WANTS} avoid emojis."),
        ("I prefer short answers", "The user prefers short answers."),
        ("I like it when you add examples", "The user likes it when the assistant add examples."),
        (
            "when I ask for code, just show my code",
            "When they ask for code, the user wants the assistant to show their code.",
        ),
    ],
)
def test_a_wish_as_a_statement(text: str, told: str) -> None:
    assert wish(text, EN) == told


@pytest.mark.requirement("M33")
@pytest.mark.parametrize(
    ("text", "slot", "pinned"),
    [
        ("answer in French from now on", "preferred_language", True),
        ("call me Pip", "preferred_name", True),
        ("always answer with tables", "answer_style.format", True),
        ("never use emojis", "answer_style.emoji", True),
        ("always give metric values", "answer_style.units", True),
        ("keep answers short", "answer_style.length", True),
        ("always be formal", "answer_style.tone", True),
        ("always indent with two spaces", "code_style.indentation", False),
        ("always add type hints", "code_style.types", False),
        ("always write docstrings", "code_style.comments", False),
        ("always use snake_case", "code_style.naming", False),
        ("always use single quotes", "code_style.quotes", False),
        ("always use pnpm", "project.package_manager", False),
        ("never use npm", None, False),
        ("always run the linter first", None, False),
    ],
)
def test_slots_of_wishes(text: str, slot: str | None, *, pinned: bool) -> None:
    fact = standing(one_clause(text), EN).fact
    assert (fact.type, fact.slot, fact.pinned) == (MemoryType.PROCEDURAL, slot, pinned)


def test_what_holds_in_the_repository_is_shared() -> None:
    assert standing(one_clause("always squash in this repo"), EN).pool is Pool.PROJECT
    assert standing(one_clause("always squash"), EN).pool is Pool.USER
