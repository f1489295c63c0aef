"""A durable queue of finished turns, their receipts, and the worker that learns from them (M27)."""

from app.spool.queue import SqliteSpool
from app.spool.worker import Worker

__all__ = ["SqliteSpool", "Worker"]
