from __future__ import annotations

from pathlib import Path

from app.domain import Arrival, Call, Exchange, Owner
from app.filters.identity import Identify
from app.identity import Authenticator, KeyRing, TokenVerifier, new_key
from app.settings import Principal, Settings
from tests.build import START


async def test_the_body_names_the_end_user_of_a_multi_user_key(tmp_path: Path) -> None:
    ring = KeyRing(tmp_path / "keys.json")
    key, stored = new_key(Principal(multi_user=True))
    ring.add(stored)
    settings = Settings()
    identify = Identify(Authenticator(settings, ring, TokenVerifier(settings.identity.jwt), b"s"))
    arrival = Arrival("POST", b"/v1/x", b"", ((b"authorization", f"Bearer {key}".encode()),))
    call = Call("chat", "m", b"", end_user="ben")
    named = await identify(Exchange("r", START, arrival, call))
    assert named.owner == Owner("default", "ben")
    unnamed = await identify(Exchange("r", START, arrival))
    assert unnamed.owner is None
    assert unnamed.identity is not None
