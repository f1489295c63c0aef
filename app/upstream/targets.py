"""The configured upstreams, ready to be used, and which of them serve a model. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING

import httpx

from app.errors import ConfigurationError, RejectedError
from app.upstream.headers import CREDENTIALS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from app.settings import UpstreamSettings


@dataclass(frozen=True, slots=True)
class Retry:
    """When a call is tried again: only where the operator wants it (G10)."""

    times: int = 0
    statuses: frozenset[int] = frozenset()
    seconds: float = 30.0


@dataclass(frozen=True)
class Target:
    """One upstream. `key` is sent instead of the client's; `fallback` names whom to ask next.

    The names of `headers` are in lower case.
    """

    name: str
    url: str
    key: str | None = field(default=None, repr=False)
    models: tuple[str, ...] = ("*",)
    rewrite: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    timeouts: dict[str, float] = field(default_factory=dict)
    retry: Retry = Retry()
    fallback: tuple[str, ...] = ()
    selectable: bool = False

    @cached_property
    def credentials(self) -> dict[str, str]:
        """The headers that open it: its key as a bearer, or what is configured as a header."""
        own = {k: v for k, v in self.headers.items() if k.encode() in CREDENTIALS}
        return own if self.key is None else own | {"authorization": f"Bearer {self.key}"}

    @property
    def needs_key(self) -> bool:
        """A model server in the house is reached by plain HTTP and may be open to all."""
        return self.url.startswith("https:")

    def serves(self, model: str) -> bool:
        """Whether a model name fits one of its globs; a call that names no model fits any."""
        return not model or any(fnmatchcase(model, glob) for glob in self.models)


class Routes:
    """Finds the upstreams of a call."""

    def __init__(self, targets: Sequence[Target]) -> None:
        self.targets = tuple(targets)
        self._by_name = {target.name: target for target in targets}

    def chain(self, model: str, wanted: str | None, *, ours: bool = False) -> list[Target]:
        """The upstream of a call, then its fallbacks; raises `RejectedError` (404, 400).

        `ours`: no client said which is wanted, so it may be any.
        """
        first = self._serving(model) if wanted is None else self._named(wanted, ours=ours)
        return [first, *(self._by_name[name] for name in first.fallback)]

    def _serving(self, model: str) -> Target:
        for target in self.targets:
            if target.serves(model):
                return target
        raise RejectedError(
            404,
            f"The model '{model[:100]}' is served by no upstream.",
            param="model",
            code="model_not_found",
        )

    def _named(self, name: str, *, ours: bool) -> Target:
        """By name among those that may be chosen; an address is never taken from a client (G20)."""
        target = self._by_name.get(name)
        if target is None or not (target.selectable or ours):
            raise RejectedError(
                400,
                "X-Remora-Upstream names no upstream that may be chosen.",
                param="X-Remora-Upstream",
                code="unknown_upstream",
            )
        return target


def targets(configured: Sequence[UpstreamSettings]) -> list[Target]:
    """The upstreams with their keys; raises `ConfigurationError` with every fault."""
    faults: list[str] = []
    found: list[Target] = []
    for upstream in configured:
        try:
            found.append(_target(upstream))
        except ConfigurationError as error:
            faults += error.faults
    names = [upstream.name for upstream in configured]
    faults += _wrong_names(configured, names)
    if faults:
        raise ConfigurationError(*faults)
    return found


def _wrong_names(configured: Sequence[UpstreamSettings], names: list[str]) -> Iterator[str]:
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"upstreams: there are several named '{name}'"
    for upstream in configured:
        for name in upstream.fallback:
            if name not in names or name == upstream.name:
                yield f"upstream '{upstream.name}': its fallback '{name}' is no other upstream"


def _target(upstream: UpstreamSettings) -> Target:
    url = httpx.URL(upstream.url)
    if url.scheme not in {"http", "https"} or not url.host:
        raise ConfigurationError(
            f"upstream '{upstream.name}': {upstream.url!r} is not an http(s) base URL"
        )
    if url.userinfo:
        raise ConfigurationError(f"upstream '{upstream.name}': its URL may not hold a password")
    secret = {name.lower(): value.get_secret_value() for name, value in upstream.headers.items()}
    return Target(
        name=upstream.name,
        url=upstream.url,
        key=upstream.secret_key(),
        models=upstream.models,
        rewrite=upstream.rewrite,
        headers=secret,
        timeouts={"connect": upstream.connect_timeout, "read": upstream.read_timeout},
        retry=Retry(upstream.retries, frozenset(upstream.retry_on), upstream.retry_seconds),
        fallback=upstream.fallback,
        selectable=upstream.selectable,
    )
