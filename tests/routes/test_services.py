from __future__ import annotations

import pytest
from fastapi import FastAPI, Request

from app.errors import RejectedError
from app.identity import Authenticator, KeyRing, TokenVerifier
from app.routes.services import Services, memory_services, services
from tests.conftest import MakeSettings


def test_while_memory_is_off_its_routes_say_so(make_settings: MakeSettings) -> None:
    settings = make_settings()
    ring = KeyRing(settings.data_dir / "keys.json")
    authenticate = Authenticator(settings, ring, TokenVerifier(settings.identity.jwt), b"s")
    api = FastAPI()
    api.state.services = Services(settings, authenticate, None)
    request = Request({"type": "http", "app": api})
    assert services(request).settings is settings
    with pytest.raises(RejectedError) as caught:
        memory_services(request)
    assert (caught.value.status, caught.value.code) == (503, "memory_off")
