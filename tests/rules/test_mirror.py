"""tests/ mirrors app/: a stranger finds the tests of a file without searching."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
# Registries and re-exports; what they hold is tested where it lives.
WITHOUT_TESTS = {"__init__.py"}


def test_every_module_has_its_test_file() -> None:
    missing = []
    for path in (ROOT / "app").rglob("*.py"):
        if path.name not in WITHOUT_TESTS:
            inside = path.relative_to(ROOT / "app")
            mirror = ROOT / "tests" / inside.parent / f"test_{path.name}"
            if not mirror.exists():
                missing.append(str(inside))
    assert missing == []
