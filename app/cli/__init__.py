"""The `remora` command."""

from app.cli.commands import main
from app.cli.serve import listen, uvicorn_config

__all__ = ["listen", "main", "uvicorn_config"]
