"""Every field fault has at least three cases; every mark names one."""

from __future__ import annotations

import ast
from collections import Counter
from math import prod
from pathlib import Path

from tests.field_faults import CASES, FAULTS, LATER

TESTS = Path(__file__).parents[1]


def cases() -> Counter[int]:
    """How many cases each number has: a test's parametrized rows, multiplied."""
    found: Counter[int] = Counter()
    for path in TESTS.rglob("test_*.py"):
        tree = ast.parse(path.read_text())
        tables = {
            target.id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                marks = [m for m in node.decorator_list if isinstance(m, ast.Call)]
                rows = prod(length(m.args[1], tables) for m in marks if named(m, "parametrize"))
                for mark in marks:
                    if named(mark, "fault"):
                        for number in mark.args:
                            found[ast.literal_eval(number)] += rows
    return found


def named(mark: ast.Call, name: str) -> bool:
    """Whether this is `@pytest.mark.<name>(…)`."""
    return ast.unparse(mark.func) == f"pytest.mark.{name}"


def length(rows: ast.expr, tables: dict[str, ast.expr | None]) -> int:
    """How many rows a table in the file has; 1 where that is not plain to see."""
    if isinstance(rows, ast.Name):
        rows = tables.get(rows.id) or rows
    return len(rows.elts) if isinstance(rows, ast.List | ast.Tuple) else 1


def test_every_fault_has_three_cases() -> None:
    seen = cases()
    short = {n: seen[n] for n in FAULTS if n not in LATER and seen[n] < CASES}
    assert short == {}


def test_every_mark_and_every_excuse_names_a_fault() -> None:
    assert cases().keys() | LATER.keys() <= FAULTS.keys()
    assert all(LATER.values())
