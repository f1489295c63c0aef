"""Building the settings of a process, with every fault named at once."""

from __future__ import annotations

import os
import re
import tomllib
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_settings import SettingsConfigDict, SettingsError

from app.errors import ConfigurationError
from app.settings.places import line_of, lines
from app.settings.root import NESTED, PREFIX, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from app.settings.places import Place

DEFAULT_FILE: Final = "settings.toml"


def load(file: Path | None = None, **overrides: Any) -> Settings:  # noqa: ANN401 any field
    """The settings of this process; raises `ConfigurationError` with one line per fault.

    `file` None means `settings.toml` in the working directory, if it is there. `overrides` beat
    the environment, which beats the file.
    """
    path = file or Path(DEFAULT_FILE)
    if faults := [*_missing(file), *_unreadable(path)]:
        raise ConfigurationError(*faults)

    class FromFile(Settings):
        model_config = SettingsConfigDict(toml_file=path)

    faults = [*_unknown_variables(os.environ)]
    try:
        settings = FromFile(**overrides)
    except ValidationError as error:
        faults += _faults(error, path)
    except SettingsError as error:
        faults.append(f"environment: {error}")
    if faults:  # a nested variable that nobody knows is found twice
        raise ConfigurationError(*dict.fromkeys(faults))
    return settings


def _missing(file: Path | None) -> Iterator[str]:
    if file is not None and not file.is_file():
        yield f"{file}: {'this is no file' if file.exists() else 'there is no such file'}"


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
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    found = lines(text)
    for fault in error.errors(include_input=False, include_url=False):
        place = list(takewhile(_is_ours, fault["loc"]))
        yield ": ".join(part for part in (_origin(place, path, found), _reason(fault)) if part)


def _is_ours(part: str | int) -> bool:
    """A name or a number; pydantic adds the parts of its own validators."""
    return isinstance(part, int) or re.fullmatch(r"[\w-]+", part) is not None


def _origin(place: list[str | int], path: Path, found: dict[Place, int]) -> str:
    """The variable or the line that a setting came from."""
    names = [str(part) for part in place]
    for end in range(len(place), 0, -1):
        variable = PREFIX + NESTED.join(names[:end]).upper()
        if variable in os.environ:
            return variable
    line = line_of(found, place)
    return ": ".join(
        part for part in (f"{path}, line {line}" if line else "", ".".join(names)) if part
    )


def _reason(fault: Any) -> str:  # noqa: ANN401 pydantic's own TypedDict is private
    if fault["type"] == "extra_forbidden":
        return "there is no such setting; docs/configuration.md lists them"
    return str(fault["msg"]).removeprefix("Value error, ")
