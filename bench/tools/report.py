"""One manner for all benchmarks: a table, a TARGET line each, JSON, an exit status."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Target:
    """A figure and its bound; `at_most` or at least."""

    name: str
    measured: float
    bound: float
    at_most: bool = True

    @property
    def met(self) -> bool:
        """Whether the bound holds."""
        return self.measured <= self.bound if self.at_most else self.measured >= self.bound


def arguments(description: str, **switches: str) -> argparse.Namespace:
    """`--json PATH` and `--quick`, as every benchmark takes them; further switches by name."""
    return parser(description, **switches).parse_args()


def parser(description: str, **switches: str) -> argparse.ArgumentParser:
    """The same, for a benchmark that takes more than switches."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--quick", action="store_true", help="a short run, for a first look")
    for name, meaning in switches.items():
        parser.add_argument(f"--{name}", action="store_true", help=meaning)
    return parser


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows under columns, numbers to the right."""
    cells = [[_shown(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    print(f"\n{title}")
    print("  ".join(name.ljust(width) for name, width in zip(columns, widths, strict=True)))
    for row, original in zip(cells, rows, strict=True):
        padded = (
            cell.rjust(width) if isinstance(value, int | float) else cell.ljust(width)
            for cell, value, width in zip(row, original, widths, strict=True)
        )
        print("  ".join(padded))


def finish(figures: dict[str, object], targets: Sequence[Target], path: Path | None) -> None:
    """Print the targets, write JSON, leave with 1 if a target is missed."""
    print()
    for target in targets:
        sign = "<=" if target.at_most else ">="
        verdict = "met" if target.met else "missed"
        print(f"TARGET {target.name} {target.measured:.3g} {sign}{target.bound:g} {verdict}")
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [asdict(target) | {"met": target.met} for target in targets]
        path.write_text(json.dumps({**figures, "targets": rows}, indent=1) + "\n")
    sys.exit(0 if all(target.met for target in targets) else 1)


def _shown(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:.2f}" if abs(cell) < 100 else f"{cell:,.0f}"
    return "-" if cell is None else str(cell)
