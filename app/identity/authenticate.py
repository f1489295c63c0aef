"""From a request's headers to an `Identity`, by proofs in the configured order (M6).

The rules, in words: a Remora key that is not known is refused, never ignored. What the client's own
upstream key proves counts as long as the upstream checks it, or as long as nobody else could be
asking: once an upstream key is configured *and* client keys exist, only they open the door.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from app.domain import MAX_USER_CHARS, Identity, Owner
from app.errors import RejectedError
from app.identity.keys import KEY_PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.domain import Arrival
    from app.identity.keys import KeyRing
    from app.identity.tokens import TokenVerifier
    from app.settings import KeySettings, Settings

CREDENTIALS: Final = ("x-remora-key", "authorization", "api-key", "x-api-key")
END_USER_HEADERS: Final = ("x-memory-user", "x-openwebui-user-id", "x-sm-user-id")
ADMIN: Final = "admin_key"


@dataclass(frozen=True, slots=True)
class Credential:
    """A secret of the request, and the header it stood in."""

    header: str
    secret: str


class Authenticator:
    """Says who is asking; raises `RejectedError` (401, 400) where a proof is wrong."""

    def __init__(
        self, settings: Settings, keys: KeyRing, tokens: TokenVerifier, secret: bytes
    ) -> None:
        self._settings = settings
        self._keys = keys
        self._tokens = tokens
        self._secret = secret
        self._swapped = any(u.has_key for u in settings.all_upstreams)
        proofs: dict[str, Callable[[Arrival, list[Credential]], Identity | None]] = {
            "remora_key": self._by_key,
            "jwt": self._by_token,
            "trusted_header": self._by_header,
            "key_hash": self._by_hash,
        }
        self._proofs = [proofs[name] for name in settings.identity.order]

    @property
    def closed(self) -> bool:
        """Whether a call must prove an identity to go upstream at all."""
        required = self._settings.identity.required
        return required if required is not None else self._swapped and bool(self._keys)

    def __call__(self, arrival: Arrival, end_user: str | None = None) -> Identity | None:
        """The identity of a request; `end_user` is the one that its body names, if any.

        None means nobody in particular: the call goes on without memory (M5).
        """
        credentials = _credentials(arrival)
        proved = (proof(arrival, credentials) for proof in self._proofs)
        identity = next((found for found in proved if found is not None), None)
        if (identity is None or identity.consumed is None) and any(map(_is_ours, credentials)):
            raise _unauthorised("This Remora key is not known.")
        if identity is not None:
            return self._end_user(identity, arrival, end_user)
        if self.closed:
            raise _unauthorised(f"{self._wanted} is needed: send it as the API key.")
        return None

    @property
    def _wanted(self) -> str:
        return "A Remora key" if self._swapped and self._keys else "An API key"

    def _by_key(self, _: Arrival, credentials: list[Credential]) -> Identity | None:
        admin = self._settings.admin_key
        for credential in credentials:
            if admin is not None and _same(credential.secret, admin.get_secret_value()):
                return Identity("default", None, admin=True, via=ADMIN, consumed=credential.header)
            if (row := self._keys.match(credential.secret)) is not None and row.sha256:
                return _identity(row, row.user, "remora_key", credential.header)
        return None

    def _by_token(self, _: Arrival, credentials: list[Credential]) -> Identity | None:
        for credential in credentials:
            if (named := self._tokens.verify(credential.secret)) is not None:
                tenant, user, project = named
                owner = Owner(tenant, _user(user), project)
                return Identity(tenant, owner, via="jwt", consumed=credential.header)
        return None

    def _by_header(self, arrival: Arrival, _: list[Credential]) -> Identity | None:
        name = self._settings.identity.trusted_header
        user = arrival.header(name.lower().encode()) if name else None
        if not user or not self._trusts(arrival.peer):
            return None
        return Identity("default", Owner("default", _user(user)), via="trusted_header")

    def _by_hash(self, _: Arrival, credentials: list[Credential]) -> Identity | None:
        for credential in credentials:
            if _is_ours(credential):
                continue
            if self._swapped and self._keys:
                return None
            user = _hashed(self._secret, credential.secret)
            row = self._keys.match(credential.secret)
            if row is None:
                return Identity("default", Owner("default", user))
            return _identity(row, None if row.multi_user else row.user or user, "key_hash", None)
        return None

    def _trusts(self, peer: str) -> bool:
        try:
            address = ip_address(peer)
        except ValueError:
            return False
        return any(address in network for network in self._settings.identity.trusted_networks)

    def _end_user(self, identity: Identity, arrival: Arrival, body_user: str | None) -> Identity:
        """A principal marked `multi_user` may name one of its users; from others it is ignored."""
        if not identity.multi_user:
            return identity
        named = next(filter(None, (arrival.header(h.encode()) for h in END_USER_HEADERS)), None)
        user = named or body_user
        if user is None:
            return identity
        project = identity.owner.project if identity.owner else identity.project
        return replace(identity, owner=Owner(identity.tenant, _user(user), project))


def _is_ours(credential: Credential) -> bool:
    """Whether a secret can only be meant for Remora."""
    return credential.header == "x-remora-key" or credential.secret.startswith(KEY_PREFIX)


def _identity(row: KeySettings, user: str | None, via: str, consumed: str | None) -> Identity:
    return Identity(
        tenant=row.tenant,
        owner=Owner(row.tenant, user, row.project) if user else None,
        project=row.project,
        app=row.app,
        admin=row.admin,
        multi_user=row.multi_user,
        via=via,
        consumed=consumed,
    )


def _credentials(arrival: Arrival) -> list[Credential]:
    found = []
    for header in CREDENTIALS:
        value = arrival.header(header.encode())
        if value:
            scheme, _, rest = value.partition(" ")
            secret = rest.strip() if scheme.lower() == "bearer" else value.strip()
            if secret:
                found.append(Credential(header, secret))
    return found


def _hashed(secret: bytes, key: str) -> str:
    code = hmac.new(secret, key.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
    return f"u_{code[:24]}"


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode())


def _user(name: str) -> str:
    """A user id: any 1-256 characters (M8)."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise _bad_user() from None
    if not 1 <= len(name) <= MAX_USER_CHARS:
        raise _bad_user()
    return name


def _bad_user() -> RejectedError:
    return RejectedError(
        400,
        f"A user id has 1 to {MAX_USER_CHARS} characters.",
        param="user",
        code="invalid_user",
    )


def _unauthorised(message: str) -> RejectedError:
    return RejectedError(401, message, code="invalid_api_key")
