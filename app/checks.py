"""What can be wrong with settings that are well-formed: all of it found before anything starts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from app.errors import ConfigurationError, RejectedError
from app.identity import KEYS, KeyRing, TokenVerifier
from app.memory import STORES
from app.memory.extract import EXTRACTORS
from app.memory.gates import GATES
from app.upstream import Routes, targets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from app.settings import Settings

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


def check(settings: Settings) -> None:
    """Raises `ConfigurationError` with every fault (G22)."""
    faults = [*_names(settings), *_patterns(settings), *_learning_model(settings)]
    faults += _rewriting_model(settings)
    for part in (
        lambda: targets(settings.all_upstreams),
        lambda: TokenVerifier(settings.identity.jwt),
        lambda: _refuse_open_relay(settings),
    ):
        faults += _faults(part)
    if faults:
        raise ConfigurationError(*faults)


def _faults(part: Callable[[], object]) -> tuple[str, ...]:
    try:
        part()
    except ConfigurationError as error:
        return error.faults
    return ()


def _names(settings: Settings) -> Iterator[str]:
    """Names that only the registries know."""
    named: list[tuple[str, str, Iterable[str]]] = [
        ("store", settings.store_name, STORES),
        ("recall", settings.recall.gate, GATES),
        ("learning", settings.learning.extractor, EXTRACTORS),
    ]
    for place, rule in enumerate(settings.policies):
        named += [(f"policies[{place}]", rule.gate, GATES)] if rule.gate else []
        named += [(f"policies[{place}]", rule.extractor, EXTRACTORS)] if rule.extractor else []
    for where, name, registry in named:
        if name not in registry:
            yield f"{where}: {name!r} is not one of: {', '.join(registry)}"


def _learning_model(settings: Settings) -> Iterator[str]:
    """The llm extractor needs a model, and to be let in."""
    asked = {settings.learning.extractor, *(rule.extractor for rule in settings.policies)}
    if "llm" not in asked:
        return
    llm = settings.learning.llm
    if not llm.model:
        yield "learning.llm.model: the llm extractor needs the name of a model"
    yield from _asked(settings, "learning.llm", llm.model or "", llm.upstream)


def _rewriting_model(settings: Settings) -> Iterator[str]:
    """No model: nothing is rewritten."""
    rewrite = settings.recall.rewrite
    if rewrite.model:
        yield from _asked(settings, "recall.rewrite", rewrite.model, rewrite.upstream)


def _asked(settings: Settings, where: str, model: str, wanted: str | None) -> Iterator[str]:
    """What we call by ourselves needs an upstream that lets us in."""
    try:
        (target, *_) = Routes(targets(settings.all_upstreams)).chain(model, wanted, ours=True)
    except ConfigurationError:  # told of by itself
        return
    except RejectedError:
        named = f"there is no upstream '{wanted}'"
        yield f"{where}: {named if wanted else f'no upstream serves {model!r}'}"
        return
    if target.needs_key and not target.credentials:
        yield (
            f"{where}: upstream '{target.name}' has no key of its own, and there is no other: a "
            "client's key is for the client's call alone"
        )


def _patterns(settings: Settings) -> Iterator[str]:
    for pattern in settings.recall.block:
        try:
            re.compile(pattern)
        except re.error as error:
            yield f"recall.block: {pattern!r} is no regular expression: {error}"


def _refuse_open_relay(settings: Settings) -> None:
    """On a public address, an upstream key without client keys is open to anybody (G24)."""
    ring = KeyRing(settings.data_dir / KEYS, settings.keys)
    paid = any(upstream.has_key for upstream in settings.all_upstreams)
    if not paid or settings.host in LOOPBACK or settings.identity.required or ring:
        return
    raise ConfigurationError(
        f"host {settings.host}: with an upstream key and no client keys anybody could use it; "
        "make one first: remora keys new --user NAME"
    )
