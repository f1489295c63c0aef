from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from app.errors import ConfigurationError
from app.identity.keys import KEY_PREFIX, KeyRing, key_hash, new_key
from app.settings import KeySettings, Principal

ANA = Principal(user="ana", project="apollo", app="cli")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


@pytest.mark.requirement("M7")
def test_a_key_stands_for_what_it_was_made_for(path: Path) -> None:
    key, stored = new_key(ANA)
    KeyRing(path).add(stored)
    found = KeyRing(path).match(key)
    assert found is not None
    assert (found.user, found.project, found.app, found.tenant) == (
        "ana",
        "apollo",
        "cli",
        "default",
    )
    assert KeyRing(path).match(key + "x") is None


def test_the_key_itself_is_kept_nowhere(path: Path) -> None:
    key, stored = new_key(ANA)
    KeyRing(path).add(stored)
    kept = path.read_text()
    assert key.startswith(KEY_PREFIX)
    assert key not in kept
    assert key.removeprefix(KEY_PREFIX) not in kept
    assert key_hash(key) in kept
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_keys_are_never_the_same() -> None:
    assert len({new_key(ANA)[0] for _ in range(100)}) == 100


def test_a_revoked_key_is_unknown(path: Path) -> None:
    key, stored = new_key(ANA)
    ring = KeyRing(path)
    ring.add(stored)
    assert ring.revoke(stored.id) is True
    assert ring.revoke(stored.id) is False
    assert ring.match(key) is None


def test_a_running_server_notices_a_new_key(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running = KeyRing(path)
    key, stored = new_key(ANA)
    KeyRing(path).add(stored)
    os.utime(path, ns=(1, 1))
    monkeypatch.setattr("app.identity.keys._RELOAD_SECONDS", 0.0)
    assert running.match(key) is not None
    path.unlink()
    assert running.match(key) is None


@pytest.mark.requirement("M7")
def test_the_longest_prefix_counts(path: Path) -> None:
    ring = KeyRing(
        path,
        (
            KeySettings(prefix="sk-", user="any"),
            KeySettings(prefix="sk-team-", project="apollo"),
        ),
    )
    found = ring.match("sk-team-123")
    assert found is not None
    assert found.project == "apollo"
    other = ring.match("sk-1")
    assert other is not None
    assert other.user == "any"
    assert ring.match("pk-1") is None


def test_an_admin_key_alone_is_no_client_key(path: Path) -> None:
    ring = KeyRing(path)
    ring.add(new_key(Principal(admin=True))[1])
    assert not ring
    ring.add(new_key(ANA)[1])
    assert ring


@pytest.mark.parametrize("damage", ["{", '[{"id": 1}]', json.dumps({"keys": []})])
def test_a_damaged_file_is_one_clear_line(path: Path, damage: str) -> None:
    path.write_text(damage)
    with pytest.raises(ConfigurationError) as caught:
        KeyRing(path)
    assert len(caught.value.faults) == 1
    assert str(path) in caught.value.faults[0]
    assert path.read_text() == damage
