"""The data folder: one process at a time, and one secret."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
from typing import TYPE_CHECKING, Final

from app.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from app.settings import Settings

LOCK: Final = "remora.lock"
# Free bytes below which nothing new is kept: on a full disk a memory-mapped write kills a process.
RESERVE: Final = 64 * 1024 * 1024
SECRET: Final = "secret"  # noqa: S105 a file name


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold the folder; raises `ConfigurationError` with who holds it, or why it cannot be used."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / LOCK).open("a+")
    except OSError as error:
        raise ConfigurationError(f"data_dir: {folder} cannot be used: {error.strerror}") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            raise ConfigurationError(
                f"data_dir: {folder} is in use by another Remora (process {holder}): "
                "stop it, or set REMORA_DATA_DIR to another folder"
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def trouble(folder: Path) -> str | None:
    """Why nothing can be written there, if it cannot: reading and answering go on."""
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return f"the data folder cannot be used ({error.strerror})"
    return "the disk is full" if free < RESERVE else None


def secret(settings: Settings) -> bytes:
    """The key of identity and content hashes: configured, else made once and kept in the folder."""
    if settings.secret is not None:
        return settings.secret.get_secret_value().encode()
    path = settings.data_dir / SECRET
    if not path.exists():
        draft = path.with_suffix(".new")
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_hex(32))
        draft.replace(path)
    return path.read_text().strip().encode()
