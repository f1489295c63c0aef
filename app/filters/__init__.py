"""Filters: thin async shells around decisions. Here is their order, in and out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.domain import Receipt, Turn, utc_now
from app.filters.explain import Explain
from app.filters.extract import Find
from app.filters.gate import Admit
from app.filters.guard import Guard
from app.filters.identity import Identify
from app.filters.inject import Inject
from app.filters.limit import Limit
from app.filters.policy import Allow, base_policy
from app.filters.read import Read
from app.filters.recall import Candidates, Recall
from app.filters.reconcile import Remember
from app.filters.replay import Pin, Recheck, Replay
from app.filters.rewrite import Rewrite
from app.memory.extract import Asking
from app.memory.rewrite import Rewriter
from app.pipeline import Step
from app.ports import Dialect, Embed, Gate, Pins, Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.domain import Exchange
    from app.identity import Authenticator
    from app.memory.quota import Quota
    from app.memory.remember import Rememberer
    from app.ports import Extract
    from app.settings import Settings


def inbound(
    settings: Settings,
    authenticate: Authenticator,
    dialects: Mapping[str, Dialect],
    memory: Sequence[Step[Exchange]] = (),
) -> list[Step[Exchange]]:
    """From bytes to an exchange that may go upstream; the vital steps fail closed."""
    return [
        Step("read", Read(dialects), vital=True),
        Step("identity", Identify(authenticate), vital=True),
        Step("policy", Allow(settings), vital=True),
        *memory,
    ]


@dataclass(frozen=True, slots=True)
class Remembering:
    """What bringing memory in is built of; `count` tells the tokens of a text.

    `rewriter` is None where no model rewrites queries.
    """

    store: Store
    pins: Pins
    embed: Embed
    gates: Mapping[str, Gate]
    dialects: Mapping[str, Dialect]
    count: Callable[[str], int]
    asking: Asking
    rewriter: Rewriter | None = None


def remembering(settings: Settings, parts: Remembering) -> list[Step[Exchange]]:
    """The steps that bring memory in; each may fail or be late, the call goes on (M12)."""
    budget = settings.recall.budget_ms / 1000
    candidates = Candidates(parts.store, parts.embed)
    recall = Recall(candidates, limit=settings.recall.candidates)
    rewrite: list[Step[Exchange]] = []
    if parts.rewriter is not None:  # its time is not recall's
        rewrite = [Step("rewrite", Rewrite(parts.rewriter), budget=settings.recall.rewrite.timeout)]
    return [
        Step("replay", Replay(parts.pins), budget=budget),
        *rewrite,
        Step("recall", recall, budget=budget),
        Step("gate", Admit(parts.gates, settings.recall.conversation_tokens)),
        Step("recheck", Recheck(parts.pins), budget=budget),
        Step("inject", Inject(parts.dialects, parts.count, parts.asking)),
        Step("pin", Pin(parts.pins), budget=budget),
    ]


def explaining(settings: Settings, parts: Remembering) -> Explain:
    """The same recall and gate, to be looked into."""
    candidates = Candidates(parts.store, parts.embed)
    policy = base_policy(settings)
    return Explain(candidates, parts.gates, policy, settings.recall.candidates)


def outbound(
    settings: Settings,
    extractors: Mapping[str, Extract],
    rememberer: Rememberer,
    quota: Quota,
) -> list[Step[Turn]]:
    """From a finished turn to what is remembered of it; a step that fails is tried again later."""
    learning = settings.learning
    return [
        Step("extract", Find(extractors, episodes=learning.episodes), vital=True),
        Step("guard", Guard(max_facts=learning.max_facts), vital=True),
        Step("limit", Limit(quota), vital=True),
        Step("reconcile", Remember(rememberer), vital=True),
    ]


def receipt(turn: Turn) -> Receipt:
    """How a turn ended, in one word and with what it left (M27)."""
    outcome = turn.outcome
    verdicts = (
        ("stored", outcome.stored),
        ("pending", outcome.pending),
        ("blocked", outcome.blocked),
    )
    word = next((word for word, kept in verdicts if kept), "nothing")
    memories = (*outcome.stored, *outcome.pending)
    return Receipt(turn.id, turn.owner, word, utc_now(), memories, outcome.blocked)
