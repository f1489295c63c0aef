"""Who is asking: Remora keys, tokens of an identity provider, trusted headers, key hashes."""

from app.identity.authenticate import Authenticator
from app.identity.keys import KEY_PREFIX, KEYS, KeyRing, StoredKey, new_key
from app.identity.tokens import TokenVerifier

__all__ = [
    "KEYS",
    "KEY_PREFIX",
    "Authenticator",
    "KeyRing",
    "StoredKey",
    "TokenVerifier",
    "new_key",
]
