"""How a fault reaches the terminal: one line each, no traceback."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Final

import typer
from pydantic import ValidationError

from app.errors import ConfigurationError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

BAD_CONFIGURATION: Final = 2


@contextlib.contextmanager
def one_line_per_fault() -> Iterator[None]:
    """Print what is wrong with settings, arguments, data folder or store, and exit with 2."""
    try:
        yield
    except ConfigurationError as error:
        _stop(*error.faults)
    except ValidationError as error:
        _stop(*(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()))
    except StoreError as error:
        _stop(f"the memory store: {error}")
    except OSError as error:
        _stop(f"{error.filename or 'the data folder'}: {error.strerror or error}")


def _stop(*faults: str) -> None:
    for fault in faults:
        typer.echo(f"remora: {fault}", err=True)
    sys.exit(BAD_CONFIGURATION)
