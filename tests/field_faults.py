"""Faults that people reported of memory layers and proxies, by number, as data.

A test says which one it proves: `@pytest.mark.fault(22)`. A rule test fails when a number has fewer
than three cases: the fault itself and two variations. `LATER` waits for what is not built yet.
"""

from __future__ import annotations

from typing import Final

CASES: Final = 3

FAULTS: Final = {
    1: "recalled text is learned again as new",
    2: "the assistant's answer becomes a user fact",
    4: "old and new value both active",
    5: "a contradiction deletes both",
    7: "a plain contradiction is missed",
    9: "one call stores near-copies",
    11: "dedup ignores the owner",
    12: "users' lines mix under load",
    13: "shared mutable session state leaks",
    14: "a private note surfaces in another app",
    16: "delete-all of one user empties everything",
    17: "a deleted item is still returned",
    18: "derived text keeps asserting what was deleted",
    20: "the id from create is refused by delete",
    21: "extractor output is lost silently",
    22: "non-Latin text is never stored, or is translated",
    23: "yesterday is resolved against processing time",
    25: "list content crashes or loses the image",
    26: "tool ids or tool results are dropped",
    27: "the prefix cache is lost every turn",
    28: "only one memory is ever used",
    29: "unrelated notes hijack a short message",
    31: "the extractor sends a parameter the model refuses",
    32: "a key is stored and recalled",
    34: "the model calls the block an injection and ignores it",
    36: "vectors of two models mix",
    37: "an embedded store is opened twice",
    38: "buffered turns are never flushed",
    39: "the shipped path fails on every call",
    40: "an aborted stream wedges the proxy; a 4xx becomes 200",
    42: "injected is logged but the request is unchanged",
    43: "the same tool is declared twice",
    44: "several suggestions in one answer, only the last survives",
    45: "memory about the memory system",
    46: "a new HTTP client per request",
    47: "over the cap the newest is dropped",
    48: "a thread is continued by another user",
}

# What cannot be tested whole yet, and why; what can be has its tests already.
LATER: Final = {
    14: "memories have an app, but there is no isolation between the apps of one person yet",
    43: "memory tools are not built: Remora declares none",
}
