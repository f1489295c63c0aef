from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from app.domain import Arrival, Identity, Owner
from app.errors import RejectedError
from app.identity import Authenticator, KeyRing, TokenVerifier, new_key
from app.settings import IdentitySettings, KeySettings, Principal, Settings

Ask = Callable[..., Identity | None]
SECRET = b"secret"


def arrival(peer: str = "10.0.0.7", **headers: str) -> Arrival:
    pairs = tuple((k.replace("_", "-").encode(), v.encode()) for k, v in headers.items())
    return Arrival("POST", b"/v1/chat/completions", b"", pairs, peer)


def bearer(key: str, **headers: str) -> Arrival:
    return arrival(authorization=f"Bearer {key}", **headers)


@pytest.fixture
def ring(tmp_path: Path) -> KeyRing:
    return KeyRing(tmp_path / "keys.json")


def authenticator(ring: KeyRing, **fields: Any) -> Authenticator:
    settings = Settings(**fields)
    return Authenticator(settings, ring, TokenVerifier(settings.identity.jwt), SECRET)


def made(ring: KeyRing, **fields: Any) -> str:
    key, stored = new_key(Principal(**fields))
    ring.add(stored)
    return key


@pytest.mark.requirement("M6")
def test_without_configuration_one_key_is_one_user(ring: KeyRing) -> None:
    ask = authenticator(ring)
    ana, again, ben = ask(bearer("sk-ana")), ask(bearer("sk-ana")), ask(bearer("sk-ben"))
    assert ana is not None
    assert ana == again
    assert ben is not None
    assert ana.owner != ben.owner
    assert ana.owner is not None
    assert "sk-ana" not in ana.owner.user
    assert (ana.via, ana.consumed) == ("key_hash", None)
    other_house = Authenticator(Settings(), ring, TokenVerifier(Settings().identity.jwt), b"x")
    elsewhere = other_house(bearer("sk-ana"))
    assert elsewhere is not None
    assert elsewhere.owner != ana.owner


@pytest.mark.requirement("M5")
def test_without_a_credential_nobody_asks(ring: KeyRing) -> None:
    assert authenticator(ring)(arrival()) is None
    assert authenticator(ring)(arrival(authorization="Bearer ")) is None


@pytest.mark.requirement("M6", "M7")
@pytest.mark.parametrize("header", ["x_remora_key", "authorization", "api_key", "x_api_key"])
def test_a_remora_key_in_any_header_is_taken_out(ring: KeyRing, header: str) -> None:
    key = made(ring, user="ana", project="apollo", app="cli", tenant="acme")
    identity = authenticator(ring)(arrival(**{header: key}))
    assert identity is not None
    assert identity.owner == Owner("acme", "ana", "apollo")
    assert (identity.app, identity.via) == ("cli", "remora_key")
    assert identity.consumed == header.replace("_", "-")


@pytest.mark.requirement("M6")
def test_an_unknown_remora_key_is_refused_not_ignored(ring: KeyRing) -> None:
    for request in (bearer("rmk_unknown"), arrival(x_remora_key="rmk_x")):
        with pytest.raises(RejectedError) as caught:
            authenticator(ring)(request)
        assert (caught.value.status, caught.value.code) == (401, "invalid_api_key")


@pytest.mark.requirement("M6")
def test_only_a_multi_user_principal_may_name_a_user(ring: KeyRing) -> None:
    ask = authenticator(ring)
    single = made(ring, user="ana", tenant="acme")
    shared = made(ring, multi_user=True, tenant="acme", project="apollo")
    for header in ("x_memory_user", "x_openwebui_user_id", "x_sm_user_id"):
        ignored = ask(bearer(single, **{header: "ben"}), "ben")
        assert ignored is not None
        assert ignored.owner == Owner("acme", "ana")
        named = ask(bearer(shared, **{header: "ben"}))
        assert named is not None
        assert named.owner == Owner("acme", "ben", "apollo")
    by_body = ask(bearer(shared), "cy")
    assert by_body is not None
    assert by_body.owner == Owner("acme", "cy", "apollo")
    nobody = ask(bearer(shared))
    assert nobody is not None
    assert nobody.owner is None
    hashed = ask(bearer("sk-x", x_memory_user="ana"), "ana")
    assert hashed is not None
    assert hashed.owner is not None
    assert hashed.owner.user.startswith("u_")


@pytest.mark.requirement("M8")
@pytest.mark.parametrize("user", ["auth0|x", "a+b@c.io", "😀", "狗" * 256, "*", "'; --", "a b"])
def test_user_ids_are_opaque(ring: KeyRing, user: str) -> None:
    key = made(ring, multi_user=True)
    identity = authenticator(ring)(bearer(key, x_memory_user=user))
    assert identity is not None
    assert identity.owner == Owner("default", user)


@pytest.mark.requirement("M8")
@pytest.mark.parametrize("user", ["x" * 257, "\ud800"])
def test_what_is_no_user_id_is_refused(ring: KeyRing, user: str) -> None:
    key = made(ring, multi_user=True)
    with pytest.raises(RejectedError) as caught:
        authenticator(ring)(bearer(key), user)
    assert (caught.value.status, caught.value.code) == (400, "invalid_user")


@pytest.mark.requirement("M6")
@pytest.mark.parametrize(
    ("peer", "user"), [("10.1.2.3", "ana"), ("192.168.0.1", None), ("::1", None), ("", None)]
)
def test_a_header_counts_from_a_trusted_network_only(
    ring: KeyRing, peer: str, user: str | None
) -> None:
    trust: Any = {"trusted_header": "X-Forwarded-User", "trusted_networks": ["10.0.0.0/8"]}
    ask = authenticator(ring, identity=IdentitySettings(**trust))
    identity = ask(arrival(peer, x_forwarded_user="ana"))
    owner = identity.owner if identity else None
    assert owner == (Owner("default", user) if user else None)


@pytest.mark.requirement("M7")
def test_a_prefix_maps_the_clients_own_keys(tmp_path: Path) -> None:
    rules = (KeySettings(prefix="sk-team-", project="apollo", app="ide", tenant="acme"),)
    ring = KeyRing(tmp_path / "keys.json", rules)
    one = authenticator(ring)(bearer("sk-team-1"))
    two = authenticator(ring)(bearer("sk-team-2"))
    assert one is not None
    assert two is not None
    assert one.owner is not None
    assert two.owner is not None
    assert (one.owner.tenant, one.owner.project, one.app) == ("acme", "apollo", "ide")
    assert one.owner.user != two.owner.user
    assert one.consumed is None


@pytest.mark.requirement("M6")
def test_a_paid_upstream_is_closed_once_client_keys_exist(ring: KeyRing) -> None:
    ask = authenticator(ring, upstream_key=SecretStr("sk-paid"))
    assert ask(bearer("whatever")) is not None
    key = made(ring, user="ana")
    assert ask(bearer(key)) is not None
    for request in (bearer("whatever"), arrival()):
        with pytest.raises(RejectedError) as caught:
            ask(request)
        assert caught.value.status == 401


@pytest.mark.requirement("M6")
def test_the_order_is_configured(ring: KeyRing) -> None:
    key = made(ring, user="ana")
    ask = authenticator(ring, identity=IdentitySettings(order=("key_hash",)))
    with pytest.raises(RejectedError):
        ask(bearer(key))
    hashed = ask(bearer("sk-x"))
    assert hashed is not None
    assert hashed.via == "key_hash"


def test_the_admin_key_stands_for_no_person(ring: KeyRing) -> None:
    ask = authenticator(ring, admin_key=SecretStr("boss"))
    identity = ask(bearer("boss"))
    assert identity is not None
    assert (identity.admin, identity.owner, identity.consumed) == (True, None, "authorization")
    other = ask(bearer("bos"))
    assert other is not None
    assert other.admin is False


@pytest.mark.requirement("M6")
@pytest.mark.parametrize("key", ["rmk_bogus", "bogus"])
def test_an_unknown_remora_key_beside_ones_own_is_refused_never_ignored(
    ring: KeyRing, key: str
) -> None:
    ask = authenticator(
        ring, identity={"trusted_header": "X-User", "trusted_networks": ["10.0.0.0/8"]}
    )
    for headers in ({}, {"x_user": "ana"}):
        with pytest.raises(RejectedError) as caught:
            ask(bearer("sk-ana", x_remora_key=key, **headers))
        assert (caught.value.status, caught.value.code) == (401, "invalid_api_key")


def test_what_is_needed_is_said(ring: KeyRing) -> None:
    with pytest.raises(RejectedError, match="An API key is needed"):
        authenticator(ring, identity=IdentitySettings(required=True))(arrival())
    made(ring, user="ana")
    with pytest.raises(RejectedError, match="A Remora key is needed"):
        authenticator(ring, upstream_key=SecretStr("paid"))(arrival())
