"""What every answer says about itself: status, ids, tokens, times (M11, G23). Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.memory.rows import wire_id

if TYPE_CHECKING:
    from app.domain import Exchange

Pairs = list[tuple[bytes, bytes]]

# Trouble in one of these steps means: the call went on without memory.
READING: Final = ("replay", "recall", "gate", "inject")


def memory_status(exchange: Exchange) -> str:
    """`injected`, `none` or `skipped:<reason>`."""
    if any(placed.block.ids for placed in exchange.blocks):
        return "injected"
    if not exchange.policy.read:
        return f"skipped:{exchange.policy.reason}"
    for note in exchange.notes:
        if note.step in READING and note.outcome != "ok":
            return f"skipped:{note.step}_{note.outcome}"
    return "none"


def own_headers(exchange: Exchange, seconds: float, upstream: str | None = None) -> Pairs:
    """Our headers for an answer; `seconds` is what we added before the call went upstream."""
    headers = [
        (b"x-remora-request-id", exchange.id.encode()),
        (b"x-memory-status", memory_status(exchange).encode()),
        (b"x-memory-overhead-ms", f"{seconds * 1000:.1f}".encode()),
    ]
    if upstream is not None:
        headers.append((b"x-upstream", upstream.encode()))
    if exchange.notes:
        steps = (f"{note.step};dur={note.seconds * 1000:.1f}" for note in exchange.notes)
        headers.append((b"server-timing", ", ".join(steps).encode()))
    # All that the model is shown, whichever call found it.
    shown = dict.fromkeys(key for placed in exchange.blocks for key in placed.block.ids)
    if shown:
        tokens = sum(placed.block.tokens for placed in exchange.blocks)
        headers.append((b"x-memory-ids", ",".join(map(wire_id, shown)).encode()))
        headers.append((b"x-memory-tokens", str(tokens).encode()))
    return headers
