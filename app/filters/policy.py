"""What is allowed (M10): the settings, then each policy that matches, then the client's wish.

Each step of the ladder can only take away. Vital: when in doubt, the call is refused.
"""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from app.domain import Placement, Policy
from app.errors import RejectedError

if TYPE_CHECKING:
    from app.domain import Exchange
    from app.settings import PolicySettings, Settings

HEADER: Final = "X-Memory"
# Dialects with turns; any other is read for its model's name alone.
SPEAKING: Final = frozenset({"chat"})
CHOICES: Final = {"gate", "extractor", "limit", "max_tokens", "threshold", "placement", "rewrite"}
# What a client may ask for: (read, write).
WISHES: Final = {
    "off": (False, False),
    "read": (True, False),
    "write": (False, True),
    "on": (True, True),
}


class Allow:
    """Puts the `Policy` on the exchange, with the reason why memory is not read, if it is not."""

    def __init__(self, settings: Settings) -> None:
        self._rules = settings.policies
        self._base = base_policy(settings)

    async def __call__(self, exchange: Exchange) -> Exchange:
        policy = self._base
        for rule in self._rules:
            if _matches(rule, exchange):
                policy = narrowed(policy, rule)
        wish = exchange.arrival.header(HEADER.lower().encode())
        policy = wished(policy, wish)
        if exchange.owner is None:
            policy = without(policy, read=True, write=True, reason="no_identity")
        if (reason := _speechless(exchange)) is not None:
            policy = without(policy, read=True, write=True, reason=reason)
        return replace(exchange, policy=policy)


def base_policy(settings: Settings) -> Policy:
    """What the settings allow on any call."""
    policy = Policy(
        gate=settings.recall.gate,
        extractor=settings.learning.extractor,
        limit=settings.recall.limit,
        max_tokens=settings.recall.max_tokens,
        threshold=settings.recall.threshold,
        placement=settings.recall.placement,
    )
    policy = without(policy, read=policy.placement is Placement.OFF, write=False, reason="off")
    return policy if settings.memory else without(policy, read=True, write=True, reason="off")


def narrowed(policy: Policy, rule: PolicySettings) -> Policy:
    """The policy under one more rule. A "no" stays; how to do it, the later rule says."""
    chosen = rule.model_dump(include=CHOICES, exclude_none=True)
    policy = replace(policy, **chosen)
    unread = rule.read is False or rule.placement is Placement.OFF
    return without(policy, read=unread, write=rule.write is False, reason="policy")


def wished(policy: Policy, wish: str | None) -> Policy:
    """The policy under the client's header; raises `RejectedError` (400) for an unknown word."""
    if wish is None:
        return policy
    if (allowed := WISHES.get(wish.strip().lower())) is None:
        raise RejectedError(
            400,
            f"{HEADER} is one of: {', '.join(WISHES)}.",
            param=HEADER,
            code="invalid_memory_mode",
        )
    read, write = allowed
    return without(policy, read=not read, write=not write, reason="client")


def without(policy: Policy, *, read: bool, write: bool, reason: str) -> Policy:
    """The policy with reading or writing taken away; the first reason for not reading stays."""
    return replace(
        policy,
        read=policy.read and not read,
        write=policy.write and not write,
        reason=reason if policy.read and read else policy.reason,
    )


def _speechless(exchange: Exchange) -> str | None:
    """Why there is nothing to remember in a call: another path, or nobody said anything."""
    call = exchange.call
    if call is None or call.dialect not in SPEAKING:
        return "path"
    return "no_user_turn" if call.turn is None else None


def _matches(rule: PolicySettings, exchange: Exchange) -> bool:
    identity = exchange.identity
    facts = {
        "path": exchange.arrival.path.decode("latin-1"),
        "model": exchange.call.model if exchange.call else "",
        "app": (identity.app if identity else None) or "",
        "project": (exchange.owner.project if exchange.owner else None) or "",
    }
    return all(
        glob is None or fnmatchcase(value, glob)
        for glob, value in ((getattr(rule, name), value) for name, value in facts.items())
    )
