"""Logging: JSON lines on standard error, one canonical line per call. Never content."""

from __future__ import annotations

import logging
import sys
from typing import Final

import orjson
import structlog

# uvicorn's word for an answer that was left broken on purpose; the call's own line says why.
_KNOWN: Final = {"ASGI callable returned without completing response."}
LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def set_up(level: str) -> None:
    """Send everything, libraries included, to standard error as JSON lines."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(serializer=_to_json),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(handlers=[_Forward()], level=logging.WARNING, force=True)


class _Forward(logging.Handler):
    """Libraries' warnings, without their arguments or tracebacks: those may hold content."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.msg in _KNOWN:
            return
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else None
        structlog.get_logger().warning("library", logger=record.name, exception=kind)


def _to_json(event: object, **_: object) -> str:
    return orjson.dumps(event, default=str).decode()
