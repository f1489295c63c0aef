"""Settings: defaults, then `settings.toml`, then `REMORA_…` variables; the later one wins.

Frozen; built once by `load`, which names every fault at once.
"""

from app.settings.loading import load
from app.settings.recall import RecallSettings, RewriteSettings, WeightSettings
from app.settings.root import NESTED, PREFIX, Settings
from app.settings.sections import (
    IdentitySettings,
    InlineSettings,
    JwtSettings,
    KeySettings,
    LearningSettings,
    LlmSettings,
    PolicySettings,
    Principal,
    ServerSettings,
    UpstreamSettings,
)

__all__ = [
    "NESTED",
    "PREFIX",
    "IdentitySettings",
    "InlineSettings",
    "JwtSettings",
    "KeySettings",
    "LearningSettings",
    "LlmSettings",
    "PolicySettings",
    "Principal",
    "RecallSettings",
    "RewriteSettings",
    "ServerSettings",
    "Settings",
    "UpstreamSettings",
    "WeightSettings",
    "load",
]
