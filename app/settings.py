"""Settings: defaults, then `settings.toml`, then `REMORA_…` variables; the later one wins.

Frozen; built once by `load`, which names every fault at once. Each description below is what
`settings.example.toml` and `docs/configuration.md` say.
"""

from __future__ import annotations

import os
import tomllib
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from app.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PREFIX: Final = "REMORA_"
NESTED: Final = "__"
DEFAULT_FILE: Final = "settings.toml"
Means = Literal["remora_key", "jwt", "trusted_header", "key_hash"]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class UpstreamSettings(_Section):
    """One provider or model server. The first whose `models` match is used."""

    name: str = Field("default", description="How logs, metrics and errors call it.")
    url: str = Field(description="Base URL, as for an OpenAI SDK; a path like /v1 is kept.")
    key: SecretStr | None = Field(None, description="Sent instead of the client's own key.")
    key_env: str | None = Field(None, description="Take `key` from this environment variable.")
    key_file: Path | None = Field(None, description="Take `key` from this file.")
    models: tuple[str, ...] = Field(("*",), description="Model names (globs) that it serves.")
    headers: dict[str, str] = Field({}, description="Headers to add or replace.")
    connect_timeout: float = Field(10, gt=0, description="Seconds to connect.")
    read_timeout: float = Field(600, gt=0, description="Seconds of silence before giving up.")

    @property
    def has_key(self) -> bool:
        """Whether the operator pays for its calls."""
        return not (self.key is None and self.key_env is None and self.key_file is None)

    def secret_key(self) -> str | None:
        """The key, wherever it is kept; raises `ConfigurationError` if it is not there."""
        if self.key is not None:
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


class KeySettings(_Section):
    """What a key, or every key with a prefix, stands for; `remora keys new` makes such rows."""

    sha256: str | None = Field(None, pattern="^[0-9a-f]{64}$", description="Hash of the key.")
    prefix: str | None = Field(None, min_length=3, description="Beginning of the client's own key.")
    tenant: str = Field("default", min_length=1, description="Tenant it belongs to.")
    user: str | None = Field(None, min_length=1, max_length=256, description="Whose memory.")
    project: str | None = Field(None, min_length=1, description="Shared project pool.")
    app: str | None = Field(None, min_length=1, description="Name of the app that uses it.")
    admin: bool = Field(default=False, description="May see and delete anyone's memory.")
    multi_user: bool = Field(default=False, description="May name an end user on each call.")


class PolicySettings(_Section):
    """A rule for some calls; every condition that is given must match. Later rules win."""

    path: str | None = Field(None, description="Request path (glob).")
    model: str | None = Field(None, description="Model name (glob).")
    app: str | None = Field(None, description="App of the key.")
    project: str | None = Field(None, description="Project of the key.")
    read: bool | None = Field(None, description="Whether memories may be injected.")
    write: bool | None = Field(None, description="Whether turns may be learned from.")
    gate: str | None = Field(None, description="heuristic or noop.")
    extractor: str | None = Field(None, description="heuristic or none.")
    limit: int | None = Field(None, ge=1, le=100, description="Most memories in one block.")
    max_tokens: int | None = Field(None, ge=32, description="Token budget of one block.")
    threshold: float | None = Field(None, ge=-1, le=1, description="Lowest cosine to admit.")


class JwtSettings(_Section):
    """Bearer tokens of an identity provider. Off until `jwks_file` or `jwks_url` is set."""

    issuer: str | None = Field(None, description="Required `iss`.")
    audience: str | None = Field(None, description="Required `aud`.")
    jwks_file: Path | None = Field(None, description="Key set as a file.")
    jwks_url: str | None = Field(None, description="Key set as a URL, fetched in the background.")
    algorithms: tuple[str, ...] = Field(("RS256", "ES256"), description="Accepted algorithms.")
    user_claim: str = Field("sub", description="Claim that names the user.")
    tenant_claim: str | None = Field(None, description="Claim that names the tenant.")
    project_claim: str | None = Field(None, description="Claim that names the project.")


class IdentitySettings(_Section):
    """Who is asking."""

    order: tuple[Means, ...] = Field(
        ("remora_key", "jwt", "trusted_header", "key_hash"),
        description="Which proofs are accepted, in this order.",
    )
    required: bool | None = Field(
        None,
        description="Refuse calls that prove no identity. Default: when an upstream key is "
        "configured and client keys exist.",
    )
    trusted_header: str | None = Field(
        None, description="Header in which a trusted proxy names the user."
    )
    trusted_networks: tuple[IPv4Network | IPv6Network, ...] = Field(
        (), description="Networks of that proxy."
    )
    jwt: JwtSettings = Field(JwtSettings(), description="")


class RecallSettings(_Section):
    """What is remembered on a call."""

    candidates: int = Field(40, ge=1, le=200, description="Rows fetched per kind of search.")
    limit: int = Field(12, ge=1, le=100, description="Most memories in one block.")
    max_tokens: int = Field(512, ge=32, description="Token budget of one block.")
    threshold: float | None = Field(
        None, ge=-1, le=1, description="Lowest cosine to admit; default: the model's own."
    )
    gate: str = Field("heuristic", description="heuristic or noop.")
    block: tuple[str, ...] = Field((), description="Regular expressions that are never injected.")
    episode_half_life_days: float = Field(90, gt=0, description="Recency decay of episodes.")
    budget_ms: float = Field(300, gt=0, description="Time after which a call goes on without.")


class LearningSettings(_Section):
    """What is kept of a turn."""

    extractor: str = Field("heuristic", description="heuristic or none.")
    episodes: bool = Field(default=True, description="Keep a short dated excerpt of each turn.")
    max_facts: int = Field(20, ge=1, description="Most facts learned from one turn.")
    max_waiting: int = Field(10_000, ge=1, description="Most turns that wait in the spool.")
    keep_receipts_days: float = Field(30, gt=0, description="How long receipts can be read.")


class ServerSettings(_Section):
    """The listening side."""

    body_limit_mb: float = Field(100, gt=0, description="Largest request body.")
    keep_alive_seconds: int = Field(120, ge=1, description="Idle time of a client connection.")
    shutdown_seconds: int = Field(30, ge=0, description="Time for running answers on SIGTERM.")


class Settings(BaseSettings):
    """Everything that can be set."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter=NESTED,
        extra="forbid",
        frozen=True,
        nested_model_default_partial_update=True,
    )

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8080, ge=0, le=65535, description="Port to listen on.")
    data_dir: Path = Field(Path("data"), description="Folder for everything that is kept.")
    memory: bool = Field(default=True, description="on, or off for a plain proxy.")
    upstream_url: str = Field(
        "https://api.openai.com/v1", description="Base URL of the one upstream."
    )
    upstream_key: SecretStr | None = Field(
        None, description="Its key, sent instead of the client's own."
    )
    admin_key: SecretStr | None = Field(None, description="A key for the admin API.")
    secret: SecretStr | None = Field(
        None, description="Keys the hashes of identities; default: made once, kept in data_dir."
    )
    embedding: str = Field(
        "bundled", description="bundled, hash, a fastembed model name, or a folder with ONNX files."
    )
    store: Literal["edge", "qdrant", "memory"] | None = Field(
        None, description="Where memories live; default: qdrant if qdrant_url is set, else edge."
    )
    qdrant_url: str | None = Field(None, description="Qdrant server; https:// for TLS.")
    qdrant_key: SecretStr | None = Field(None, description="Its API key.")
    qdrant_grpc: bool = Field(default=True, description="Talk gRPC (port 6334) to it.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="")
    server: ServerSettings = Field(ServerSettings(), description="")
    identity: IdentitySettings = Field(IdentitySettings(), description="")
    recall: RecallSettings = Field(RecallSettings(), description="")
    learning: LearningSettings = Field(LearningSettings(), description="")
    upstreams: tuple[UpstreamSettings, ...] = Field((), description="")
    keys: tuple[KeySettings, ...] = Field((), description="")
    policies: tuple[PolicySettings, ...] = Field((), description="")

    @property
    def all_upstreams(self) -> tuple[UpstreamSettings, ...]:
        """The configured upstreams, else the one of `upstream_url` and `upstream_key`."""
        if self.upstreams:
            return self.upstreams
        return (UpstreamSettings(url=self.upstream_url, key=self.upstream_key),)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 the base class names it
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 the base class names it
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, then the environment, then the file that `load` put into `toml_file`."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


def load(file: Path | None = None, **overrides: Any) -> Settings:  # noqa: ANN401 any field
    """The settings of this process; raises `ConfigurationError` with one line per fault.

    `file` None means `settings.toml` in the working directory, if it is there. `overrides` beat
    the environment, which beats the file.
    """
    path = file or Path(DEFAULT_FILE)
    faults = [*_missing(file), *_unreadable(path), *_unknown_variables(os.environ)]
    if faults:
        raise ConfigurationError(*faults)

    class FromFile(Settings):
        model_config = SettingsConfigDict(toml_file=path)

    try:
        return FromFile(**overrides)
    except ValidationError as error:
        raise ConfigurationError(*_faults(error, path)) from None
    except SettingsError as error:
        raise ConfigurationError(f"environment: {error}") from None


def _missing(file: Path | None) -> Iterator[str]:
    if file is not None and not file.is_file():
        yield f"{file}: there is no such file"


def _unreadable(path: Path) -> Iterator[str]:
    if path.is_file():
        try:
            tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
            yield f"{path}: {error}"


def _unknown_variables(environment: Mapping[str, str]) -> Iterator[str]:
    known = {name.upper() for name in _names(Settings)}
    for variable in sorted(environment):
        name = variable.removeprefix(PREFIX)
        if variable.startswith(PREFIX) and name not in known:
            yield f"{variable}: there is no such setting; docs/configuration.md lists them"


def _names(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield prefix + name
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _names(field.annotation, prefix + name + NESTED)


def _faults(error: ValidationError, path: Path) -> Iterator[str]:
    for fault in error.errors(include_input=False, include_url=False):
        where = [str(part) for part in fault["loc"]]
        variable = PREFIX + NESTED.join(where).upper()
        origin = variable if variable in os.environ else f"{path}: {'.'.join(where)}"
        yield f"{origin}: {_reason(fault)}"


def _reason(fault: Any) -> str:  # noqa: ANN401 pydantic's own TypedDict is private
    if fault["type"] == "extra_forbidden":
        return "there is no such setting; docs/configuration.md lists them"
    return str(fault["msg"])
