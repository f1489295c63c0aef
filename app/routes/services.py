"""What the web edge works with, built once by `app.main`."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request

from app.errors import RejectedError
from app.filters.explain import Explain
from app.identity import Authenticator
from app.memory.quota import Quota
from app.memory.remember import Rememberer
from app.memory.revise import Reviser
from app.ports import Embed, Store
from app.settings import Settings
from app.spool import SqliteSpool, Worker


@dataclass(frozen=True, slots=True)
class MemoryServices:
    """The parts that exist only while memory is on."""

    store: Store
    embed: Embed
    rememberer: Rememberer
    spool: SqliteSpool
    worker: Worker
    quota: Quota
    reviser: Reviser
    explain: Explain


@dataclass(frozen=True, slots=True)
class Services:
    """The running parts that routes may use."""

    settings: Settings
    authenticate: Authenticator
    memory: MemoryServices | None


def services(request: Request) -> Services:
    """FastAPI dependency: the services of the running application."""
    found: Services = request.app.state.services
    return found


def memory_services(request: Request) -> MemoryServices:
    """FastAPI dependency: the memory's parts; raises `RejectedError` (503) while memory is off."""
    found = services(request).memory
    if found is None:
        raise RejectedError(503, "Memory is switched off on this server.", code="memory_off")
    return found
