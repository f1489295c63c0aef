"""The tables of `settings.toml` that say what is remembered on a call."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from app.domain import Placement
from app.settings.section import Section


class RewriteSettings(Section):
    """A model that rewrites turns for the search, before each call that recalls. Off by default."""

    upstream: str | None = Field(
        None,
        examples=["local"],
        description="Upstream to ask, by name; default: the first that serves the model.",
    )
    model: str | None = Field(None, examples=["gpt-4.1-nano"], description="Its model; none: off.")
    max_chars: int = Field(
        2000, ge=200, le=12_000, description="Most characters of a conversation that it is shown."
    )
    timeout: float = Field(1, gt=0, description="Seconds; then the turn's own words are used.")
    max_tokens: int = Field(64, ge=16, description="Most tokens of its answer.")


class WeightSettings(Section):
    """What each kind of evidence counts for in the order; docs/recall.md has the figures."""

    dense: float = Field(0.5, ge=0, description="Cosine of the meanings.")
    late: float = Field(2.0, ge=0, description="Agreement of the word pieces (MaxSim).")
    lexical: float = Field(0.5, ge=0, description="BM25 score over the best of the call.")
    named: float = Field(0.15, ge=0, description="Added where it is about whom the turn names.")
    importance: float = Field(0.1, ge=0, description="Times a memory's importance.")
    session: float = Field(
        0.4, ge=0, description="Times the worth of the best excerpt of the same conversation."
    )
    recency: float = Field(0.01, ge=0, le=1, description="Of an episode's worth, what age takes.")


class RecallSettings(Section):
    """What is remembered on a call."""

    candidates: int = Field(20, ge=1, le=200, description="Rows that the gate looks at.")
    limit: int = Field(12, ge=1, le=100, description="Most memories in one block.")
    max_tokens: int = Field(512, ge=32, description="Token budget of one block.")
    threshold: float | None = Field(
        None,
        examples=[0.32],
        ge=-1,
        le=1,
        description="Lowest relevance to admit; default: the model's own.",
    )
    gate: str = Field("heuristic", description="heuristic or noop.")
    fusion: Literal["weighted", "rrf"] = Field(
        "weighted", description="weighted or rrf: how two searches become one order."
    )
    placement: Placement = Field(
        Placement.PREFIX_STABLE,
        description="prefix_stable: blocks stay on their turns; current_turn: one block; off.",
    )
    conversation_tokens: int = Field(
        2048, ge=32, description="Token budget of all blocks of one conversation."
    )
    pin_days: float = Field(7, gt=0, description="How long a conversation's blocks are kept.")
    pins_per_owner: int = Field(2000, ge=1, description="Most blocks kept for one person.")
    block: tuple[str, ...] = Field((), description="Regular expressions that are never injected.")
    episode_half_life_days: float = Field(90, gt=0, description="Recency decay of episodes.")
    budget_ms: float = Field(300, gt=0, description="Time after which a call goes on without.")
    weights: WeightSettings = Field(WeightSettings(), description="")
    rewrite: RewriteSettings = Field(RewriteSettings(), description="")
