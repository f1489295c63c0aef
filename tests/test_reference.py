from __future__ import annotations

import re
import tomllib
from pathlib import Path

from pydantic import BaseModel

from app import reference
from app.settings import Settings

ROOT = Path(__file__).parents[1]


def test_the_example_holds_every_setting_and_all_of_it_is_valid() -> None:
    uncommented = re.sub(r"(?m)^# (?=\[|[a-z_0-9]+ = )", "", reference.example())
    given = tomllib.loads(uncommented)
    settings = Settings(**given)
    for name, field in Settings.model_fields.items():
        value = getattr(settings, name)
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
