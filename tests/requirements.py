"""The numbered requirements (MEMORY.md: M1-M43, GATEWAY.md: G1-G25) as data.

A test says which ones it proves: `@pytest.mark.requirement("M12")`. A rule test fails when a number
of a finished issue has no test. `LATER` has no issue yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LATER: Final = 0
# An issue is listed here once all of its numbers are proven.
FINISHED_ISSUES: Final = frozenset({2, 3, 4, 5})


@dataclass(frozen=True, slots=True)
class Requirement:
    """What must hold, and the issue that brings it."""

    issue: int
    summary: str

    @property
    def planned(self) -> bool:
        """Whether its issue is still open."""
        return self.issue not in FINISHED_ISSUES


REQUIREMENTS: Final = {
    "M1": Requirement(2, "the fields of a memory"),
    "M2": Requirement(2, "states; only active is used; a tombstone holds no content"),
    "M3": Requirement(2, "content: UTF-8, NFC, trimmed, not empty, at most 16 KiB"),
    "M4": Requirement(LATER, "collections are bound to the embedding identity; reindex"),
    "M5": Requirement(2, "no identity, no memory"),
    "M6": Requirement(2, "identity from what is authenticated, in configured order"),
    "M7": Requirement(2, "a key or prefix maps to tenant, user, app, project; ours never leaves"),
    "M8": Requirement(2, "user ids are opaque strings of 1-256 characters"),
    "M9": Requirement(2, "own pool and project pool; never another user's rows"),
    "M10": Requirement(2, "one policy per call; a no always holds"),
    "M11": Requirement(2, "every answer says what happened"),
    "M12": Requirement(2, "memory never costs the answer"),
    "M13": Requirement(2, "small talk needs no memory"),
    "M14": Requirement(2, "the query leans on recent context where the text does"),
    "M15": Requirement(2, "hybrid recall with the filter inside each search"),
    "M16": Requirement(2, "relevance admits, rank only orders"),
    "M17": Requirement(6, "use counts cannot bring a deleted memory back"),
    "M18": Requirement(6, "pinned memories are always candidates"),
    "M19": Requirement(2, "the order of the gate's rules"),
    "M20": Requirement(2, "a hard token budget"),
    "M21": Requirement(2, "the gate is quick"),
    "M22": Requirement(2, "one fenced, dated block of untrusted data"),
    "M23": Requirement(2, "at the end of its user turn; everything before keeps its bytes"),
    "M24": Requirement(4, "prefix-stable memory"),
    "M25": Requirement(4, "pins are shared, expire, and go with their memories"),
    "M26": Requirement(2, "only proper endings teach"),
    "M27": Requirement(2, "the durable spool and one receipt for every turn"),
    "M28": Requirement(5, "extractors: heuristic, llm, inline, none"),
    "M29": Requirement(5, "a fact is what the user asserted"),
    "M30": Requirement(5, "episodes"),
    "M31": Requirement(5, "self-contained and dated statements"),
    "M32": Requirement(5, "secrets never reach the store"),
    "M33": Requirement(5, "no standing orders but style and workflow"),
    "M34": Requirement(5, "rate and size caps"),
    "M35": Requirement(5, "reinforce and supersede"),
    "M36": Requirement(5, "retract; multi-valued slots"),
    "M37": Requirement(5, "conflicts for a person"),
    "M38": Requirement(5, "as_of"),
    "M39": Requirement(2, "forget by id and scope; an empty filter is an error"),
    "M40": Requirement(LATER, "after forget nothing shows the content again"),
    "M41": Requirement(LATER, "expiry, and delete me"),
    "M42": Requirement(LATER, "consolidation"),
    "M43": Requirement(LATER, "export and import"),
    "G1": Requirement(3, "no injection: the client's very bytes"),
    "G2": Requirement(3, "injection: only the text of one turn differs"),
    "G3": Requirement(3, "end-to-end headers pass, hop-by-hop and ours do not"),
    "G4": Requirement(3, "paths, queries and every other /v1 path pass"),
    "G5": Requirement(3, "large, chunked, compressed and limited bodies"),
    "G6": Requirement(3, "credentials: passed or swapped, never both"),
    "G7": Requirement(3, "models: verbatim or merged"),
    "G8": Requirement(3, "status, body and headers pass verbatim"),
    "G9": Requirement(3, "compressed answers stay compressed"),
    "G10": Requirement(3, "one request in, one request out"),
    "G11": Requirement(3, "upstream trouble in OpenAI's error shape"),
    "G12": Requirement(3, "stream bytes pass as they come"),
    "G13": Requirement(3, "nothing is delayed"),
    "G14": Requirement(3, "a client that leaves takes the upstream call along"),
    "G15": Requirement(3, "a broken answer looks broken"),
    "G16": Requirement(3, "a stale connection is recovered from"),
    "G17": Requirement(3, "WebSocket relay"),
    "G18": Requirement(3, "several upstreams"),
    "G19": Requirement(3, "fallback chain"),
    "G20": Requirement(3, "no client-chosen upstream address"),
    "G21": Requirement(3, "health, readiness, metrics, docs, CORS"),
    "G22": Requirement(3, "configuration checked as a whole; graceful stop"),
    "G23": Requirement(3, "overhead and timing on every answer"),
    "G24": Requirement(3, "check, schema, no open relay"),
    "G25": Requirement(3, "one JSON line per request"),
}
