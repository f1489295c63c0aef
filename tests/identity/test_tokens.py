from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from app.errors import ConfigurationError
from app.identity.tokens import TokenVerifier
from app.settings import JwtSettings

KEY = ec.generate_private_key(ec.SECP256R1())
OTHER = ec.generate_private_key(ec.SECP256R1())
ISSUER, AUDIENCE = "https://id.example", "remora"


def key_set(private: ec.EllipticCurvePrivateKey = KEY, key_id: str = "k1") -> bytes:
    public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(private.public_key()))
    return json.dumps({"keys": [{**public, "kid": key_id, "alg": "ES256"}]}).encode()


def token(private: ec.EllipticCurvePrivateKey = KEY, key_id: str = "k1", **claims: Any) -> str:
    usual = {
        "sub": "auth0|ana",
        "iss": ISSUER,
        "aud": AUDIENCE,
        "exp": datetime.now(UTC) + timedelta(minutes=5),
    }
    payload = {k: v for k, v in (usual | claims).items() if v is not None}
    return jwt.encode(payload, private, "ES256", {"kid": key_id})


@pytest.fixture
def verifier() -> TokenVerifier:
    settings = JwtSettings(
        issuer=ISSUER, audience=AUDIENCE, tenant_claim="org", project_claim="project"
    )
    verifier = TokenVerifier(settings)
    verifier.load(key_set())
    return verifier


@pytest.mark.requirement("M6")
def test_a_valid_token_names_tenant_user_and_project(verifier: TokenVerifier) -> None:
    assert verifier.verify(token(org="acme", project="apollo")) == ("acme", "auth0|ana", "apollo")
    assert verifier.verify(token(org="acme")) == ("acme", "auth0|ana", None)


@pytest.mark.requirement("M6")
@pytest.mark.parametrize(
    "bad",
    [
        token(OTHER, org="acme"),
        token(key_id="k2", org="acme"),
        token(iss="https://evil.example", org="acme"),
        token(aud="other", org="acme"),
        token(exp=datetime.now(UTC) - timedelta(minutes=5), org="acme"),
        token(exp=None, org="acme"),
        token(sub=None, org="acme"),
        token(org=None),
        token(org=""),
        jwt.encode({"sub": "ana", "org": "acme"}, "", "none"),
        jwt.encode({"sub": "ana", "org": "acme"}, "x" * 32, "HS256"),
        "sk-no-token",
        "a.b.c",
    ],
)
def test_anything_else_is_nobody(verifier: TokenVerifier, bad: str) -> None:
    assert verifier.verify(bad) is None


def test_without_a_key_set_nothing_is_accepted() -> None:
    assert TokenVerifier(JwtSettings()).verify(token()) is None


def test_keys_can_be_rolled_over(verifier: TokenVerifier) -> None:
    verifier.load(key_set(OTHER, "k2"))
    assert verifier.verify(token(org="acme")) is None
    assert verifier.verify(token(OTHER, "k2", org="acme")) == ("acme", "auth0|ana", None)


@pytest.mark.parametrize("damage", ["", "[]", '{"keys": 1}', '{"keys": [{"kty": "?"}]}'])
def test_a_damaged_key_set_is_one_clear_line(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "jwks.json"
    path.write_text(damage)
    with pytest.raises(ConfigurationError, match="no key set"):
        TokenVerifier(JwtSettings(jwks_file=path))


def test_a_key_set_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "jwks.json"
    path.write_bytes(key_set())
    settings = JwtSettings(jwks_file=path, issuer=ISSUER, audience=AUDIENCE)
    assert TokenVerifier(settings).verify(token()) == ("default", "auth0|ana", None)
