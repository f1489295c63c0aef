from __future__ import annotations

import inspect

import pytest

from app import ports
from app.ports import Store

MAX_METHODS = 5
PORTS = [
    port
    for port in vars(ports).values()
    if getattr(port, "_is_protocol", False) and port.__module__ == ports.__name__
]


def methods(port: type) -> list[str]:
    return [
        name
        for name, member in vars(port).items()
        if (inspect.isfunction(member) or isinstance(member, property))
        and (not name.startswith("_") or name == "__call__")
    ]


@pytest.mark.parametrize("port", PORTS, ids=lambda port: port.__name__)
def test_ports_are_narrow(port: type) -> None:
    assert 1 <= len(methods(port)) <= MAX_METHODS


@pytest.mark.requirement("M9")
def test_whose_memory_comes_first_in_every_store_method() -> None:
    for name in methods(Store):
        _, first, *_ = inspect.signature(getattr(Store, name)).parameters.values()
        assert first.annotation in {"Owner", "Scope"}, name
        assert first.default is inspect.Parameter.empty
