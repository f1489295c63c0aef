"""Remora keys: made once, shown once, kept as hashes in `<data_dir>/keys.json`.

A key is 256 random bits, so a plain SHA-256 is enough to keep (there is nothing to guess). The file
is read again when it changes, so a key made or revoked on the command line counts within a second.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING, Final

from pydantic import TypeAdapter, ValidationError

from app.errors import ConfigurationError
from app.settings import KeySettings, Principal

if TYPE_CHECKING:
    from pathlib import Path

KEY_PREFIX: Final = "rmk_"
KEYS: Final = "keys.json"
_RELOAD_SECONDS: Final = 1.0


class StoredKey(KeySettings):
    """A key of the file: what it stands for, a name to revoke it by, and when it was made."""

    id: str
    created_at: datetime


_FILE: Final = TypeAdapter(tuple[StoredKey, ...])


def key_hash(key: str) -> str:
    """SHA-256 of a key, as hex digits."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def new_key(stands_for: Principal) -> tuple[str, StoredKey]:
    """A fresh key, and the row to keep of it."""
    key = KEY_PREFIX + base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip("=")
    stored = StoredKey(
        **stands_for.model_dump(),
        sha256=key_hash(key),
        id=f"key_{secrets.token_hex(4)}",
        created_at=datetime.now(UTC).replace(microsecond=0),
    )
    return key, stored


class KeyRing:
    """The keys of the settings and of the file, by hash and by prefix."""

    def __init__(self, path: Path, configured: tuple[KeySettings, ...] = ()) -> None:
        self._path = path
        self._configured = configured
        self._changed: int | None = None
        self._checked = float("-inf")
        self._stored: tuple[StoredKey, ...] = ()
        self._by_hash: dict[str, KeySettings] = {}
        self.reload()

    @property
    def stored(self) -> tuple[StoredKey, ...]:
        """The keys of the file."""
        return self._stored

    def __bool__(self) -> bool:
        """Whether there is any key but an administrator's."""
        self._refresh()
        return any(not key.admin for key in (*self._configured, *self._stored))

    def match(self, key: str) -> KeySettings | None:
        """What a key stands for: its own row, else the longest prefix that fits."""
        self._refresh()
        if (exact := self._by_hash.get(key_hash(key))) is not None:
            return exact
        fitting = (k for k in self._configured if k.prefix and key.startswith(k.prefix))
        return max(fitting, key=lambda k: len(k.prefix or ""), default=None)

    def add(self, key: StoredKey) -> None:
        """Keep a key."""
        self._write((*self._stored, key))

    def revoke(self, key_id: str) -> bool:
        """Drop the key of that id; False if there is none."""
        left = tuple(key for key in self._stored if key.id != key_id)
        found = len(left) < len(self._stored)
        if found:
            self._write(left)
        return found

    def configure(self, configured: tuple[KeySettings, ...]) -> None:
        """Take other keys of the settings, and read the file again."""
        before, self._configured = self._configured, configured
        try:
            self.reload()
        except ConfigurationError:
            self._configured = before
            raise

    def reload(self) -> None:
        """Read the file again; raises `ConfigurationError` if it is damaged."""
        try:
            changed = self._path.stat().st_mtime_ns
            stored = _FILE.validate_json(self._path.read_bytes())
        except FileNotFoundError:
            changed, stored = None, ()
        except (ValidationError, OSError) as error:
            raise ConfigurationError(f"{self._path} cannot be read: {_brief(error)}") from None
        self._changed, self._stored, self._checked = changed, stored, monotonic()
        keys = (*self._configured, *stored)
        self._by_hash = {key.sha256: key for key in keys if key.sha256}

    def _refresh(self) -> None:
        if monotonic() - self._checked < _RELOAD_SECONDS:
            return
        self._checked = monotonic()
        changed = self._path.stat().st_mtime_ns if self._path.exists() else None
        if changed != self._changed:
            self.reload()

    def _write(self, keys: tuple[StoredKey, ...]) -> None:
        rows = [key.model_dump(mode="json", exclude_none=True) for key in keys]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        draft = self._path.with_suffix(".new")
        draft.touch(mode=0o600)
        draft.write_text(json.dumps(rows, indent=1) + "\n")
        draft.replace(self._path)
        self.reload()


def _brief(error: Exception) -> str:
    return type(error).__name__ if isinstance(error, ValidationError) else str(error)
