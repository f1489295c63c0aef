"""Every error of the API in OpenAI's shape."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import structlog
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from app.errors import EmptyFilterError, RejectedError, StoreError

if TYPE_CHECKING:
    from fastapi import FastAPI, Request

NOWHERE: Final = "There is nothing at this path; the API's base URL ends in /v1."
_log = structlog.get_logger()


def install(api: FastAPI) -> None:
    """Let `api` answer with OpenAI's error object, whatever went wrong."""
    api.add_exception_handler(RejectedError, _rejected)
    api.add_exception_handler(RequestValidationError, _invalid)
    api.add_exception_handler(HTTPException, _http)
    api.add_exception_handler(EmptyFilterError, _empty)
    api.add_exception_handler(StoreError, _store)
    api.add_exception_handler(Exception, _unexpected)


def _answer(error: RejectedError) -> JSONResponse:
    return JSONResponse(error.body(), status_code=error.status)


async def _rejected(_: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RejectedError):
        raise error
    return _answer(error)


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        raise error
    first: dict[str, Any] = error.errors()[0]
    place = [str(part) for part in first["loc"][1:]]
    if first["loc"] == ("body",) and first["type"] != "missing":
        message = "Send a JSON object, with 'Content-Type: application/json'."
        return _answer(RejectedError(400, message, code="invalid_type"))
    if first["type"] == "json_invalid":
        return _answer(
            RejectedError(400, "The request body is not valid JSON.", code="invalid_json")
        )
    param = ".".join(place) or None
    reason = first["msg"].removeprefix("Value error, ")
    message = f"Invalid value for '{param}': {reason}." if param else f"{reason}."
    return _answer(RejectedError(400, message, param=param, code=first["type"]))


async def _http(_: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        raise error
    message = NOWHERE if error.status_code == HTTPStatus.NOT_FOUND else f"{error.detail}."
    answer = _answer(RejectedError(error.status_code, message))
    answer.headers.update(error.headers or {})
    return answer


async def _empty(_: Request, error: Exception) -> JSONResponse:
    return _answer(RejectedError(400, f"{error}.".capitalize(), code="empty_filter"))


async def _store(_: Request, error: Exception) -> JSONResponse:
    _log.warning("store", reason=str(error))
    message = f"The memory store is not available ({error}); nothing was changed. Try again."
    return _answer(RejectedError(503, message, code="store_unavailable", kind="server_error"))


async def _unexpected(_: Request, error: Exception) -> JSONResponse:
    _log.error("unexpected", reason=type(error).__name__)
    message = "Remora failed on this request."
    return _answer(RejectedError(500, message, code="internal_error", kind="server_error"))
