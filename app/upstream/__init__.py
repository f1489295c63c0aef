"""The providers: routing by model, one pool, unread replies."""

from app.upstream.client import HttpUpstream, Target, targets
from app.upstream.refresh import keep_fresh
from app.upstream.transport import AiohttpTransport

__all__ = ["AiohttpTransport", "HttpUpstream", "Target", "keep_fresh", "targets"]
