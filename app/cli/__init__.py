"""The `remora` command."""

from app.cli.commands import main
from app.cli.serve import uvicorn_config

__all__ = ["main", "uvicorn_config"]
