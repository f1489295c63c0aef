"""What every table of `settings.toml` is: frozen, and without keys that it does not know."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A table."""

    model_config = ConfigDict(frozen=True, extra="forbid")
