"""Prefix keys: one digest for each user turn, of everything up to it (M24). Pure.

A chain of hashes, so that a conversation of n messages costs n steps. Blind to what clients rewrite
between two calls without meaning it; everything else makes another key.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final

from app.domain import UserTurn

if TYPE_CHECKING:
    from collections.abc import Sequence

# A message's own id, and where its provider should cut the cache: clients move that along.
PLAIN: Final = {"role", "content"}
HARMLESS: Final = frozenset({"role", "content", "id", "cache_control"})


def user_turns(messages: Sequence[dict[str, Any]]) -> tuple[UserTurn, ...]:
    """The user's messages, each with the digest of all messages up to it."""
    chain = hashlib.blake2b(digest_size=16)
    turns = []
    for place, message in enumerate(messages):
        chain.update(_told(message))
        if message.get("role") == "user":
            turns.append(UserTurn(place, chain.copy().hexdigest()))
    return tuple(turns)


def _told(message: dict[str, Any]) -> bytes:
    """What a message says, framed so that no two messages run together."""
    content = message.get("content")
    content = (_text_of(content) if isinstance(content, list) else content) or ""
    rest = {} if message.keys() == PLAIN else _rest(message)
    if isinstance(content, str):
        content = content.strip()
        if not rest:
            said = f"{message.get('role')}\0{content}"
            return f"{len(said)}\0{said}".encode("utf-8", "surrogatepass")
    said = json.dumps([message.get("role"), content, rest], sort_keys=True, default=repr)
    return f"{len(said)}\1{said}".encode("utf-8", "surrogatepass")


def _rest(message: dict[str, Any]) -> dict[str, Any]:
    """All that a message has besides; an absent field and an empty one are the same."""
    return {
        key: value
        for key, value in message.items()
        if key not in HARMLESS and value is not None and value not in ("", [], {})
    }


def _text_of(parts: list[Any]) -> str | list[Any]:
    """A single text part is as good as a plain text."""
    bare = [_bare(part) if isinstance(part, dict) else part for part in parts]
    if len(bare) == 1 and isinstance(bare[0], dict) and bare[0].keys() == {"type", "text"}:
        text = bare[0]["text"]
        return text if isinstance(text, str) and bare[0]["type"] == "text" else bare
    return bare


def _bare(part: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key != "cache_control"}
