"""`/healthz`: alive. `/readyz`: able to serve memory, and why not; details for administrators."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse

from app import folder
from app.domain import Tenant, Where
from app.errors import RejectedError, StoreError
from app.routes.access import arrival
from app.routes.services import MemoryServices, Services, services

router: Final = APIRouter(tags=["health"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@router.get("/readyz")
async def readyz(request: Request, parts: Annotated[Services, Depends(services)]) -> JSONResponse:
    """200 when the store is open (the embedder and the upstreams are known from the start).

    `degraded` is ready, too: calls are answered and memories recalled, but none can be kept.
    """
    store, writing = await _store(parts.memory), folder.trouble(parts.settings.data_dir)
    ready = store == "ok"
    status = "not ready" if not ready else "degraded" if writing and parts.memory else "ready"
    answer: dict[str, Any] = {"status": status}
    if _is_admin(request, parts):
        answer |= await _details(parts, store) | {"data_dir": writing or "ok"}
    return JSONResponse(answer, status_code=200 if ready else 503)


async def _store(memory: MemoryServices | None) -> str:
    if memory is None:
        return "ok"
    try:
        await memory.store.find(Tenant("default"), Where(), limit=0)
    except StoreError as error:
        return str(error)
    return "ok"


async def _details(parts: Services, store: str) -> dict[str, Any]:
    memory = parts.memory
    return {
        "upstreams": [upstream.name for upstream in parts.settings.all_upstreams],
        "memory": memory is not None,
        "store": store if memory else None,
        "embedding": memory.embed.identity if memory else None,
        "waiting": memory.spool.waiting if memory else None,
    }


def _is_admin(request: Request, parts: Services) -> bool:
    try:
        identity = parts.authenticate(arrival(request))
    except RejectedError:
        return False
    return identity is not None and identity.admin
