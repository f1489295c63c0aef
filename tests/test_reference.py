from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel, SecretStr

from app import reference
from app.settings import KeySettings, Settings, UpstreamSettings

ROOT = Path(__file__).parents[1]


def test_the_example_holds_every_setting_and_all_of_it_is_valid() -> None:
    uncommented = re.sub(r"(?m)^# (?=\[|[a-z_0-9]+ = )", "", reference.example())
    given = tomllib.loads(uncommented)
    for name in ("upstream_url", "upstream_key"):  # not beside [[upstreams]]
        assert given.pop(name)
    settings = Settings(**given)
    for name, field in Settings.model_fields.items():
        value = getattr(settings, name)
        if name not in given:
            continue
        table, model = given[name], value
        if isinstance(value, tuple):
            (table,), (model,) = given[name], value
        if isinstance(model, BaseModel):
            assert set(table) == set(type(model).model_fields), name
        else:
            assert field.description


def test_the_files_are_what_the_code_says() -> None:
    assert (ROOT / "settings.example.toml").read_text() == reference.example()
    assert (ROOT / "docs" / "configuration.md").read_text() == reference.markdown()
    assert (ROOT / "docs" / "settings.schema.json").read_text() == reference.schema()


@pytest.mark.requirement("G24")
def test_the_schema_knows_every_setting_and_nothing_else() -> None:
    schema = json.loads(reference.schema())
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert schema["additionalProperties"] is False
    assert schema["properties"].keys() == Settings.model_fields.keys()
    for part in schema["$defs"].values():
        assert part.get("additionalProperties", False) is False or "enum" in part


@pytest.mark.requirement("G24")
def test_the_effective_configuration_is_valid_and_shows_no_secret() -> None:
    settings = Settings(
        port=1,
        admin_key=SecretStr("boss"),
        upstreams=(
            UpstreamSettings(
                url="http://x", key=SecretStr("sk-paid"), headers={"X-A": SecretStr("hush")}
            ),
        ),
        keys=(KeySettings(prefix="sk-team-", project="apollo"),),
    )
    shown = reference.effective(settings)
    given = tomllib.loads(shown)
    assert (given["port"], given["host"]) == (1, "127.0.0.1")
    assert "port = 1  # default: 8080" in shown
    assert given["upstreams"][0]["headers"] == {"X-A": "**********"}
    assert given["keys"][0]["project"] == "apollo"
    assert given["recall"]["limit"] == settings.recall.limit
    for secret in ("boss", "sk-paid", "hush"):
        assert secret not in shown
