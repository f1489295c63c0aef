"""Every number of a finished issue has a test; every mark names a number that exists."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.requirements import REQUIREMENTS

TESTS = Path(__file__).parents[1]


def marked() -> set[str]:
    """The numbers in `@pytest.mark.requirement(...)` decorators on test functions."""
    found: set[str] = set()
    for path in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for mark in node.decorator_list:
                    if isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith(
                        "mark.requirement"
                    ):
                        found |= {ast.literal_eval(argument) for argument in mark.args}
    return found


def test_the_numbers_are_complete() -> None:
    numbers = [f"M{n}" for n in range(1, 44)] + [f"G{n}" for n in range(1, 26)]
    assert list(REQUIREMENTS) == numbers


def test_every_mark_names_a_requirement() -> None:
    assert marked() <= REQUIREMENTS.keys()


def test_every_requirement_of_a_finished_issue_has_a_test() -> None:
    due = {number for number, r in REQUIREMENTS.items() if not r.planned}
    assert due - marked() == set()
