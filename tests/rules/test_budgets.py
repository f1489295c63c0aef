"""Budgets hold for the largest, not on average: files, functions and values."""

from __future__ import annotations

import ast
import dataclasses
import subprocess
from pathlib import Path

import pytest

from app import domain

ROOT = Path(__file__).parents[2]
MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 40
MAX_FIELDS = 10


def python_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.py"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return [ROOT / name for name in listed if (ROOT / name).exists()]


def test_files_are_short() -> None:
    lines = {p.relative_to(ROOT): len(p.read_text().splitlines()) for p in python_files()}
    assert lines
    assert {path: n for path, n in lines.items() if n > MAX_FILE_LINES} == {}


def test_functions_are_short() -> None:
    long = {}
    for path in python_files():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or 0) - node.lineno + 1
                if length > MAX_FUNCTION_LINES:
                    long[f"{path.relative_to(ROOT)}:{node.name}"] = length
    assert long == {}


@pytest.mark.parametrize(
    "value",
    [v for v in vars(domain).values() if dataclasses.is_dataclass(v)],
    ids=lambda v: getattr(v, "__name__", str(v)),
)
def test_values_are_small_and_frozen(value: type) -> None:
    assert len(dataclasses.fields(value)) <= MAX_FIELDS
    assert value.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert "__slots__" in vars(value)
