"""Who may do what on the memory API: a user's key its own, an administrator's key anyone's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Depends, Query, Request, Security
from fastapi.security import APIKeyHeader, HTTPBearer

from app.domain import Arrival, Identity, Owner, Scope, Tenant
from app.errors import RejectedError
from app.routes.services import Services, services

# Only for the documentation, which shows where a key goes; `Authenticator` reads the headers.
_BEARER: Final = Security(HTTPBearer(auto_error=False, description="Your API key."))
_HEADER: Final = Security(APIKeyHeader(name="X-Remora-Key", auto_error=False))


def only_known(request: Request) -> None:
    """FastAPI dependency: a misspelt filter must not select everything; raises `RejectedError`."""
    operations = request.app.openapi()["paths"][request.scope["route"].path]
    known = {
        parameter["name"]
        for parameter in operations[request.method.lower()].get("parameters", ())
        if parameter["in"] == "query"
    }
    for name in request.query_params:
        if name not in known:
            raise RejectedError(
                400,
                f"There is no parameter '{name[:50]}' here; there are: {', '.join(sorted(known))}.",
                param=name[:50],
                code="unknown_parameter",
            )


DEPENDENCIES: Final = (_BEARER, _HEADER, Depends(only_known))


@dataclass(frozen=True, slots=True)
class Access:
    """Whose memory this request is about, and who asks."""

    scope: Scope
    identity: Identity

    @property
    def by(self) -> str:
        """Who is recorded as having done it."""
        return self.identity.owner.user if self.identity.owner else "admin"

    def owner(self) -> Owner:
        """One person's memory; raises `RejectedError` (400) where an administrator named nobody."""
        if isinstance(self.scope, Owner):
            return self.scope
        raise RejectedError(400, "Say whose memory: user=….", param="user", code="missing_user")


def access(
    request: Request,
    parts: Annotated[Services, Depends(services)],
    tenant: Annotated[str | None, Query(description="Administrators: which tenant.")] = None,
    user: Annotated[str | None, Query(description="Administrators: whose memory.")] = None,
    project: Annotated[str | None, Query(description="Only this project's.")] = None,
) -> Access:
    """FastAPI dependency; raises `RejectedError` (401, 403, 400)."""
    identity = parts.authenticate(arrival(request))
    if identity is None:
        raise RejectedError(
            401,
            "Send the key that you use for your calls, or a Remora key.",
            code="invalid_api_key",
        )
    _refuse_empty(tenant=tenant, user=user, project=project)
    if identity.admin:
        name = tenant or identity.tenant
        return Access(Owner(name, user, project) if user else Tenant(name), identity)
    owner = identity.owner
    if owner is None:
        raise RejectedError(400, "This key stands for no user.", code="missing_user")
    if tenant not in {None, owner.tenant} or user not in {None, owner.user}:
        raise RejectedError(
            403,
            "Only an administrator's key may name another user or tenant.",
            code="forbidden",
            kind="permission_error",
        )
    return Access(owner, identity)


def arrival(request: Request) -> Arrival:
    """The request as the identity rules read it."""
    return Arrival(
        method=request.method,
        path=request.scope.get("raw_path", b""),
        query=request.scope["query_string"],
        headers=tuple(request.headers.raw),
        peer=request.client.host if request.client else "",
    )


def _refuse_empty(**named: str | None) -> None:
    for name, value in named.items():
        if value == "":
            raise empty_filter(name)


def empty_filter(name: str) -> RejectedError:
    """A filter that is given but empty is an error, never "everything" (M39)."""
    return RejectedError(400, f"The filter '{name}' is empty.", param=name, code="empty_filter")
