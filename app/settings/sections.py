"""The tables of `settings.toml`. A field's description is what the documents say of it."""

from __future__ import annotations

import os
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator

from app.domain import Placement
from app.errors import ConfigurationError
from app.settings.section import Section

Means = Literal["remora_key", "jwt", "trusted_header", "key_hash"]


class UpstreamSettings(Section):
    """One provider or model server. The first whose `models` match is used."""

    name: str = Field("default", description="How logs, metrics and errors call it.")
    url: str = Field(description="Base URL, as for an OpenAI SDK; a path like /v1 is kept.")
    key: SecretStr | None = Field(
        None, examples=["sk-…"], description="Sent instead of the client's own key."
    )
    key_env: str | None = Field(
        None, examples=["LOCAL_KEY"], description="Take `key` from this environment variable."
    )
    key_file: Path | None = Field(
        None, examples=["/run/secrets/key"], description="Take `key` from this file."
    )
    models: tuple[str, ...] = Field(("*",), description="Model names (globs) that it serves.")
    headers: dict[str, SecretStr] = Field({}, description="Headers to add or replace.")
    connect_timeout: float = Field(10, gt=0, description="Seconds to connect.")
    read_timeout: float = Field(600, gt=0, description="Seconds of silence before giving up.")
    rewrite: dict[str, str] = Field(
        {}, description="Model names as clients say them, and as it does."
    )
    retries: int = Field(0, ge=0, le=10, description="How often a call is tried again; 0: never.")
    retry_on: tuple[int, ...] = Field(
        (429, 500, 502, 503, 504), description="Answers that are tried again, or elsewhere."
    )
    retry_seconds: float = Field(30, gt=0, description="Time for all attempts together.")
    fallback: tuple[str, ...] = Field((), description="Upstreams to ask next, by name.")
    selectable: bool = Field(
        default=False, description="Clients may choose it by X-Remora-Upstream."
    )

    @property
    def has_key(self) -> bool:
        """Whether the operator pays for its calls."""
        kept = (self.key, self.key_env, self.key_file)
        named = {name.lower() for name in self.headers}
        return any(kept) or not named.isdisjoint({"authorization", "api-key", "x-api-key"})

    def secret_key(self) -> str | None:
        """The key, wherever it is kept; raises `ConfigurationError` if it is not there."""
        if self.key:
            return self.key.get_secret_value()
        if self.key_env is not None:
            if not (value := os.environ.get(self.key_env)):
                raise ConfigurationError(f"upstream '{self.name}': {self.key_env} is not set")
            return value
        if self.key_file is not None:
            try:
                return self.key_file.read_text(encoding="utf-8").strip()
            except OSError as error:
                raise ConfigurationError(f"upstream '{self.name}': {error}") from None
        return None


class Principal(Section):
    """What a key stands for."""

    tenant: str = Field("default", min_length=1, description="Tenant it belongs to.")
    user: str | None = Field(
        None, examples=["ana"], min_length=1, max_length=256, description="Whose memory."
    )
    project: str | None = Field(
        None, examples=["apollo"], min_length=1, description="Shared project pool."
    )
    app: str | None = Field(
        None, examples=["ide"], min_length=1, description="Name of the app that uses it."
    )
    admin: bool = Field(default=False, description="May see and delete anyone's memory.")
    multi_user: bool = Field(default=False, description="May name an end user on each call.")


class KeySettings(Principal):
    """What a key, or every key with a prefix, stands for; `remora keys new` makes such rows."""

    sha256: str | None = Field(
        None, examples=["0" * 64], pattern="^[0-9a-f]{64}$", description="Hash of the key."
    )
    prefix: str | None = Field(
        None, examples=["sk-team-"], min_length=3, description="Beginning of the client's own key."
    )

    @model_validator(mode="after")
    def _found_by_something(self) -> Self:
        if self.sha256 is None and self.prefix is None:
            raise ValueError("a key needs sha256 or prefix, or nothing finds it")
        return self


class PolicySettings(Section):
    """A rule for some calls; every condition that is given must match. Later rules win."""

    path: str | None = Field(None, examples=["/v1/chat/*"], description="Request path (glob).")
    model: str | None = Field(None, examples=["gpt-*"], description="Model name (glob).")
    app: str | None = Field(None, examples=["ci"], description="App of the key.")
    project: str | None = Field(None, examples=["apollo"], description="Project of the key.")
    read: bool | None = Field(
        None, examples=[True], description="Whether memories may be injected."
    )
    write: bool | None = Field(
        None, examples=[False], description="Whether turns may be learned from."
    )
    gate: str | None = Field(None, examples=["noop"], description="heuristic or noop.")
    extractor: str | None = Field(
        None, examples=["none"], description="heuristic, llm, inline or none."
    )
    limit: int | None = Field(
        None, examples=[6], ge=1, le=100, description="Most memories in one block."
    )
    max_tokens: int | None = Field(
        None, examples=[256], ge=32, description="Token budget of one block."
    )
    threshold: float | None = Field(
        None, examples=[0.4], ge=-1, le=1, description="Lowest relevance to admit."
    )
    placement: Placement | None = Field(
        None, examples=["current_turn"], description="prefix_stable, current_turn or off."
    )
    rewrite: bool | None = Field(
        None, examples=[False], description="Whether recall.rewrite's model may be asked."
    )


class JwtSettings(Section):
    """Bearer tokens of an identity provider. Off until `jwks_file` or `jwks_url` is set."""

    issuer: str | None = Field(None, examples=["https://id.example"], description="Required `iss`.")
    audience: str | None = Field(None, examples=["remora"], description="Required `aud`.")
    jwks_file: Path | None = Field(
        None, examples=["/etc/remora/jwks.json"], description="Key set as a file."
    )
    jwks_url: str | None = Field(
        None,
        examples=["https://id.example/jwks.json"],
        description="Key set as a URL, fetched in the background.",
    )
    algorithms: tuple[str, ...] = Field(("RS256", "ES256"), description="Accepted algorithms.")
    user_claim: str = Field("sub", description="Claim that names the user.")
    tenant_claim: str | None = Field(
        None, examples=["org"], description="Claim that names the tenant."
    )
    project_claim: str | None = Field(
        None, examples=["project"], description="Claim that names the project."
    )


class IdentitySettings(Section):
    """Who is asking."""

    order: tuple[Means, ...] = Field(
        ("remora_key", "jwt", "trusted_header", "key_hash"),
        description="Which proofs are accepted, in this order.",
    )
    required: bool | None = Field(
        None,
        examples=[True],
        description="Refuse calls that prove no identity. Default: when an upstream key is "
        "configured and client keys exist.",
    )
    trusted_header: str | None = Field(
        None,
        examples=["X-Forwarded-User"],
        description="Header in which a trusted proxy names the user.",
    )
    trusted_networks: tuple[IPv4Network | IPv6Network, ...] = Field(
        (), description="Networks of that proxy."
    )
    jwt: JwtSettings = Field(JwtSettings(), description="")


class LlmSettings(Section):
    """The model that the `llm` extractor asks, after the answer is out."""

    upstream: str | None = Field(
        None,
        examples=["local"],
        description="Upstream to ask, by name; default: the first that serves the model.",
    )
    model: str | None = Field(
        None, examples=["gpt-4.1-mini"], description="Its model; needed by the llm extractor."
    )
    max_chars: int = Field(
        6000, ge=200, le=12_000, description="Most characters of a user's message that it is shown."
    )
    timeout: float = Field(30, gt=0, description="Seconds for one turn, second attempts included.")
    max_tokens: int = Field(400, ge=32, description="Most tokens of its answer.")


class InlineSettings(Section):
    """How the `inline` extractor asks the model that answers to say what is to be remembered."""

    escalate_after: int = Field(
        3, ge=1, description="Answers without a marker, in a row, until a model is asked harder."
    )


class LearningSettings(Section):
    """What is kept of a turn."""

    extractor: str = Field("heuristic", description="heuristic, llm, inline or none.")
    episodes: bool = Field(default=True, description="Keep a short dated excerpt of each turn.")
    max_facts: int = Field(20, ge=1, description="Most facts learned from one turn.")
    max_facts_per_day: int = Field(
        200, ge=1, description="Most facts learned in a day (UTC) for one person or project."
    )
    max_rows: int = Field(
        10_000,
        ge=1,
        description="Most memories of one person or project; the oldest excerpts make room first.",
    )
    max_waiting: int = Field(10_000, ge=1, description="Most turns that wait in the spool.")
    keep_receipts_days: float = Field(30, gt=0, description="How long receipts can be read.")
    llm: LlmSettings = Field(LlmSettings(), description="")
    inline: InlineSettings = Field(InlineSettings(), description="")


class ServerSettings(Section):
    """The listening side."""

    body_limit_mb: float = Field(100, gt=0, description="Largest request body.")
    keep_alive_seconds: int = Field(120, ge=1, description="Idle time of a client connection.")
    shutdown_seconds: int = Field(30, ge=0, description="Time for running answers on SIGTERM.")
    body_idle_seconds: float = Field(60, gt=0, description="Longest pause while a client sends.")
    cors_origins: tuple[str, ...] = Field(
        (), description="Web pages that may call from a browser; * for any. Default: none."
    )
