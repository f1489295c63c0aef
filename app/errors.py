"""Every exception that Remora raises on purpose.

    RemoraError
    ├── RejectedError        a decision about one call; becomes an answer in OpenAI's error shape
    ├── ConfigurationError   the settings or the data folder are not fit to start with
    ├── StoreError           the memory store did not do what was asked
    │   └── EmptyFilterError a filter that was given but selects nothing in particular
    └── UpstreamError        the upstream could not be reached or broke off

A message never holds content, a key or a user id. A provider's own 4xx or 5xx is a reply, not an
exception.
"""

from __future__ import annotations


class RemoraError(Exception):
    """The root: `except RemoraError` catches everything that is ours."""


class RejectedError(RemoraError):
    """A call is refused, with the HTTP status and the fields of OpenAI's error object."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        kind: str = "invalid_request_error",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.param = param
        self.kind = kind

    def body(self) -> dict[str, dict[str, str | None]]:
        """OpenAI's shape: `{"error": {"message", "type", "param", "code"}}`."""
        return {
            "error": {
                "message": self.message,
                "type": self.kind,
                "param": self.param,
                "code": self.code,
            }
        }


class ConfigurationError(RemoraError):
    """One line per fault: what is wrong, where, and what to do about it."""

    def __init__(self, *faults: str) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


class StoreError(RemoraError):
    """The store is down, late, full or damaged; memory is skipped, the call goes on."""


class EmptyFilterError(StoreError):
    """A filter was given but empty; it never means "everything" (M39)."""


class UpstreamError(RemoraError):
    """The upstream gave no usable answer; `status` is for the client (502, 503 or 504)."""

    def __init__(self, status: int, code: str, message: str, upstream: str = "") -> None:
        super().__init__(message)
        self.upstream = upstream
        self.status = status
        self.code = code
        self.message = message
