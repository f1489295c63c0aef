"""The settings as documents, made from the models: one fact, one place.

`settings.example.toml`, `docs/configuration.md` and `docs/settings.schema.json` are written by
`make docs`, and a test compares.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, get_args

from pydantic import BaseModel, SecretStr
from pydantic_core import PydanticUndefined

from app.settings import NESTED, PREFIX, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.fields import FieldInfo

HEAD: Final = """\
# Every setting of Remora with its default, commented out. Copy what you need to settings.toml.
# Each one outside the [[lists]] can also be set by a variable, which wins: REMORA_PORT,
# REMORA_RECALL__LIMIT (two underscores go one level down).
"""
SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "upstreams": {"name": "local", "url": "http://127.0.0.1:11434/v1", "models": ["llama*"]},
    "keys": {"prefix": "sk-team-", "project": "apollo", "app": "ide"},
    "policies": {"app": "ci", "write": False},
    "identity": {"trusted_networks": ["10.0.0.0/8"]},
}


def example() -> str:
    """`settings.example.toml`."""
    lines = [HEAD]
    sections = []
    for name, field in Settings.model_fields.items():
        model = _section(field)
        if model is None:
            lines += _toml(name, field)
        else:
            sections.append((name, model, _is_list(field)))
    for name, model, is_list in sections:
        lines += _toml_section(name, model, is_list=is_list)
    return "\n".join(lines) + "\n"


def schema() -> str:
    """`docs/settings.schema.json`: JSON Schema of settings.toml, for editors and checks."""
    found = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    found |= Settings.model_json_schema()
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def effective(settings: Settings) -> str:
    """Every setting as it is now, as TOML; what is not the default is marked; secrets masked."""
    lines: list[str] = []
    for name, field in Settings.model_fields.items():
        value = getattr(settings, name)
        if isinstance(value, tuple) and _section(field) is not None:
            for row in value:
                lines += ["", f"[[{name}]]", *_effective(row)]
        elif isinstance(value, BaseModel):
            lines += _effective_section(name, value)
        else:
            lines += _pair(name, value, settings)
    return "\n".join(lines) + "\n"


def _effective_section(name: str, model: BaseModel) -> Iterator[str]:
    yield ""
    yield f"[{name}]"
    yield from _effective(model)
    for key in type(model).model_fields:
        inner = getattr(model, key)
        if isinstance(inner, BaseModel):
            yield from _effective_section(f"{name}.{key}", inner)


def _effective(model: BaseModel) -> Iterator[str]:
    for key in type(model).model_fields:
        if not isinstance(getattr(model, key), BaseModel):
            yield from _pair(key, getattr(model, key), model)


def _pair(name: str, value: object, model: BaseModel) -> Iterator[str]:
    default = type(model).model_fields[name].default
    if value is None:
        yield f"# {name}: not set"
    elif value == default:
        yield f"{name} = {_literal(value)}"
    else:
        yield f"{name} = {_literal(value)}  # default: {_shown(default)}"


def _shown(default: object) -> str:
    return "none" if default in (None, PydanticUndefined) else _literal(default)


def markdown() -> str:
    """`docs/configuration.md`."""
    lines = [
        "# Configuration",
        "",
        "Defaults, then `settings.toml` (or `--settings FILE`), then variables; the later wins.",
        "An unknown setting is an error. This page is made from the code by `make docs`.",
        "",
        *_table(Settings, PREFIX),
    ]
    for name, field in Settings.model_fields.items():
        model = _section(field)
        if model is not None:
            lines += _markdown_section(name, model, is_list=_is_list(field))
    return "\n".join(lines) + "\n"


def _toml_section(name: str, model: type[BaseModel], *, is_list: bool) -> Iterator[str]:
    yield ""
    yield f"# {_first_line(model)}"
    yield f"# [[{name}]]" if is_list else f"# [{name}]"
    for key, field in model.model_fields.items():
        inner = _section(field)
        if inner is None:
            yield from _toml(key, field, SAMPLES.get(name, {}).get(key))
        else:
            yield from _toml_section(f"{name}.{key}", inner, is_list=False)


def _toml(name: str, field: FieldInfo, sample: Any = None) -> Iterator[str]:  # noqa: ANN401 any value
    value = sample if sample is not None else _default(field)
    if value is None:
        value = (field.examples or [""])[0]
    yield f"# {name} = {_literal(value)}  # {field.description}"


def _markdown_section(name: str, model: type[BaseModel], *, is_list: bool) -> Iterator[str]:
    yield ""
    yield f"## `[[{name}]]`" if is_list else f"## `[{name}]`"
    yield ""
    yield (model.__doc__ or "").strip()
    yield ""
    prefix = "" if is_list else PREFIX + name.replace(".", NESTED).upper() + NESTED
    yield from _table(model, prefix)
    for key, field in model.model_fields.items():
        inner = _section(field)
        if inner is not None:
            yield from _markdown_section(f"{name}.{key}", inner, is_list=False)


def _table(model: type[BaseModel], prefix: str) -> Iterator[str]:
    yield "| setting | default | what it is |" + (" variable |" if prefix else "")
    yield "|---|---|---|" + ("---|" if prefix else "")
    for name, field in model.model_fields.items():
        if _section(field) is None:
            value = _default(field)
            shown = "" if value is None else f"`{_literal(value)}`"
            variable = f" `{prefix}{name.upper()}` |" if prefix else ""
            yield f"| `{name}` | {shown} | {field.description} |{variable}"


def _section(field: FieldInfo) -> type[BaseModel] | None:
    """The model of a table or a list of tables."""
    for kind in (field.annotation, *get_args(field.annotation)):
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return kind
    return None


def _is_list(field: FieldInfo) -> bool:
    return not isinstance(field.annotation, type)


def _default(field: FieldInfo) -> Any:  # noqa: ANN401 any value
    value = field.default
    return None if value is PydanticUndefined or isinstance(value, SecretStr) else value


def _literal(value: object) -> str:
    """A value as TOML writes it; strings, numbers, flags and lists read the same in JSON."""
    if isinstance(value, tuple | list):
        return "[" + ", ".join(_literal(item) for item in value) + "]"
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k} = {_literal(v)}" for k, v in value.items()) + "}"
    return json.dumps(str(value), ensure_ascii=False)


def _first_line(model: type[BaseModel]) -> str:
    return (model.__doc__ or "").strip().splitlines()[0]
