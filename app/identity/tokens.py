"""Bearer tokens of an identity provider (JWT), checked against its key set (JWKS)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import jwt

from app.errors import ConfigurationError

if TYPE_CHECKING:
    from app.settings import JwtSettings

DEFAULT_TENANT: Final = "default"


class TokenVerifier:
    """Who a token speaks for. Without a key set it accepts nothing."""

    def __init__(self, settings: JwtSettings) -> None:
        self._settings = settings
        self._keys: dict[str | None, jwt.PyJWK] = {}
        if settings.jwks_file:
            try:
                self.load(settings.jwks_file.read_bytes())
            except (OSError, ValueError) as error:
                raise ConfigurationError(
                    f"identity.jwt.jwks_file: {settings.jwks_file} is no key set "
                    f"({type(error).__name__})"
                ) from error

    def load(self, key_set: bytes) -> None:
        """Take a key set (RFC 7517) instead of the one before; raises ValueError if it is none."""
        try:
            keys = jwt.PyJWKSet.from_dict(json.loads(key_set)).keys
        except (jwt.PyJWTError, TypeError, AttributeError) as error:
            raise ValueError("not a JSON Web Key Set") from error
        self._keys = {key.key_id: key for key in keys}

    def verify(self, token: str) -> tuple[str, str, str | None] | None:
        """(tenant, user, project) of a valid token; None if it is not one of ours or not valid."""
        if not self._keys or token.count(".") != 2:  # noqa: PLR2004 header.payload.signature
            return None
        try:
            key = self._key(jwt.get_unverified_header(token).get("kid"))
            claims = jwt.decode(
                token,
                key,
                algorithms=list(self._settings.algorithms),
                audience=self._settings.audience,
                issuer=self._settings.issuer,
                options={"require": ["exp"], "verify_aud": self._settings.audience is not None},
            )
        except (jwt.PyJWTError, LookupError):
            return None
        return self._named(claims)

    def _key(self, key_id: str | None) -> jwt.PyJWK:
        if key_id is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys[key_id]

    def _named(self, claims: dict[str, Any]) -> tuple[str, str, str | None] | None:
        settings = self._settings
        user = claims.get(settings.user_claim)
        tenant = claims.get(settings.tenant_claim) if settings.tenant_claim else DEFAULT_TENANT
        project = claims.get(settings.project_claim) if settings.project_claim else None
        if not isinstance(user, str) or not isinstance(tenant, str) or not user or not tenant:
            return None
        return tenant, user, project if isinstance(project, str) and project else None
