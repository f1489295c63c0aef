"""Every Prometheus metric of our own, on one page. No label ever names a user, key or content."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from prometheus_client import Counter, Gauge, Histogram

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.domain import Note

_FAST: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3, 1.0)

CALLS: Final = Counter(
    "remora_calls_total", "Calls answered under /v1.", ("route", "upstream", "status")
)
RUNNING: Final = Gauge("remora_calls_running", "Calls under /v1 that are not over yet.")
MEMORY: Final = Counter("remora_memory_total", "What became of memory on a call.", ("status",))
INJECTED_TOKENS: Final = Counter("remora_injected_tokens_total", "Tokens of new memory blocks.")
REPLAYED_TOKENS: Final = Counter(
    "remora_replayed_tokens_total", "Tokens of memory blocks that went up again, on their turns."
)
OVERHEAD: Final = Histogram(
    "remora_overhead_seconds", "What the proxy added before a call went upstream.", buckets=_FAST
)
STEPS: Final = Histogram(
    "remora_step_seconds", "Time of one step.", ("step", "outcome"), buckets=_FAST
)
TURNS: Final = Counter("remora_turns_total", "Finished turns by how they ended.", ("outcome",))
EXTRACTOR: Final = Counter(
    "remora_extractor_total",
    "Turns that an extractor asked a model about; whatever is not ok, the heuristic one learned.",
    ("extractor", "outcome"),
)
INLINE: Final = Counter(
    "remora_inline_total",
    "Markers of the inline extractor: calls that asked, answers with, without and with unreadable "
    "ones, and wordings that became firmer.",
    ("outcome",),
)
REWRITE: Final = Counter(
    "remora_rewrite_total",
    "Turns that a model was asked to rewrite for the search; whatever is not ok, the turn's own "
    "words were searched for.",
    ("outcome",),
)
BLOCKED: Final = Counter("remora_blocked_total", "Statements kept out of memory.", ("kind",))
MADE_ROOM: Final = Counter(
    "remora_made_room_total", "Memories forgotten to make room for newer ones.", ("type",)
)
WAITING: Final = Gauge("remora_spool_waiting", "Turns that wait to be learned from.")
ABORTED: Final = Counter("remora_aborted_total", "Calls that ended early.", ("by",))


def observe(notes: Iterable[Note]) -> None:
    """Count the time and outcome of each step."""
    for note in notes:
        _step(note.step, note.outcome).observe(note.seconds)


# Finding a labelled child costs more than counting with it.
_step: Final = cache(STEPS.labels)
calls: Final = cache(CALLS.labels)
memory: Final = cache(MEMORY.labels)
