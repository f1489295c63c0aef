"""The settings as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Self

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from app.settings.recall import RecallSettings
from app.settings.sections import (
    IdentitySettings,
    KeySettings,
    LearningSettings,
    PolicySettings,
    ServerSettings,
    UpstreamSettings,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX: Final = "REMORA_"
NESTED: Final = "__"


class Settings(BaseSettings):
    """Everything that can be set."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter=NESTED,
        env_ignore_empty=True,
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
        None, examples=["sk-…"], description="Its key, sent instead of the client's own."
    )
    admin_key: SecretStr | None = Field(
        None, examples=["a long random word"], description="A key for the admin API."
    )
    secret: SecretStr | None = Field(
        None,
        examples=["another one"],
        description="Keys the hashes of identities; default: made once, kept in data_dir.",
    )
    embedding: str = Field(
        "bundled",
        description="bundled, hash, a model in fastembed's cache, or a folder with ONNX files.",
    )
    store: Literal["edge", "qdrant", "memory"] | None = Field(
        None,
        examples=["qdrant"],
        description="Where memories live; default: qdrant if qdrant_url is set, else edge.",
    )
    qdrant_url: str | None = Field(
        None, examples=["http://127.0.0.1:6333"], description="Qdrant server; https:// for TLS."
    )
    qdrant_key: SecretStr | None = Field(None, examples=["…"], description="Its API key.")
    qdrant_grpc: bool = Field(default=True, description="Talk gRPC (port 6334) to it.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="debug, info, warning or error."
    )
    server: ServerSettings = Field(ServerSettings(), description="")
    identity: IdentitySettings = Field(IdentitySettings(), description="")
    recall: RecallSettings = Field(RecallSettings(), description="")
    learning: LearningSettings = Field(LearningSettings(), description="")
    upstreams: tuple[UpstreamSettings, ...] = Field((), description="")
    keys: tuple[KeySettings, ...] = Field((), description="")
    policies: tuple[PolicySettings, ...] = Field((), description="")

    @property
    def store_name(self) -> str:
        """Where memories live."""
        return self.store or ("qdrant" if self.qdrant_url else "edge")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        """What would be ignored, or cannot work, is a fault (G22)."""
        faults = list(_contradictions(self))
        if faults:
            raise ValueError("; ".join(faults))
        return self

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


def _contradictions(settings: Settings) -> Iterator[str]:
    single = {"upstream_url", "upstream_key"} & settings.model_fields_set
    if single and settings.upstreams:
        yield f"{' and '.join(sorted(single))} would be ignored beside [[upstreams]]: drop one"
    if settings.store == "qdrant" and not settings.qdrant_url:
        yield "store = 'qdrant' needs qdrant_url"
    if settings.store not in {None, "qdrant"} and settings.qdrant_url:
        yield f"qdrant_url would be ignored by store = '{settings.store}': drop one"
    identity = settings.identity
    if identity.trusted_header and not identity.trusted_networks:
        yield "identity.trusted_header needs identity.trusted_networks: who may send it"
