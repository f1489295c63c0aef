"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

File = Annotated[Path | None, typer.Option("--settings", help="Default: settings.toml, if there.")]
