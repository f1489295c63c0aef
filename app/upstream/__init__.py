"""The providers: routing by model, one pool, unread replies."""

from app.upstream.client import HttpUpstream
from app.upstream.refresh import keep_fresh
from app.upstream.targets import Retry, Routes, Target, targets
from app.upstream.transport import AiohttpTransport

__all__ = [
    "AiohttpTransport",
    "HttpUpstream",
    "Retry",
    "Routes",
    "Target",
    "keep_fresh",
    "targets",
]
