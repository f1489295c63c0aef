"""The composition root: the only place that builds the parts and ties them together."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import re
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from fastapi_offline import FastAPIOffline
from prometheus_fastapi_instrumentator import Instrumentator

from app import folder
from app.checks import check
from app.dialects import DIALECTS, PLAIN
from app.filters import Remembering, explaining, inbound, outbound, receipt, remembering
from app.identity import KEYS, Authenticator, KeyRing, TokenVerifier
from app.memory import STORES, StoreSpec, calibration
from app.memory.embed import Encoder, Lexical, load_model
from app.memory.extract import EXTRACTORS, Asking, ExtractorSpec
from app.memory.fusion import Weights
from app.memory.gates import GATES, GateSettings
from app.memory.quota import Caps, Quota
from app.memory.remember import Rememberer
from app.memory.revise import Reviser
from app.memory.rewrite import Rewriter
from app.memory.tokens import token_counter
from app.pipeline import run
from app.routes import errors, health, memories
from app.routes.front import Front, Rooms
from app.routes.learning import Learning
from app.routes.proxy import Proxy, ProxyParts
from app.routes.realtime import Realtime
from app.routes.services import MemoryServices, Services
from app.spool import SqliteSpool, Worker
from app.upstream import AiohttpTransport, HttpUpstream, keep_fresh, targets

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

    from fastapi import FastAPI

    from app.domain import Exchange, Receipt, Turn
    from app.pipeline import Step
    from app.ports import Gate, Upstream
    from app.settings import Settings

SPOOL: Final = "spool.sqlite"
MEGABYTE: Final = 1_048_576


@asynccontextmanager
async def create_app(settings: Settings) -> AsyncIterator[Front]:
    """The running application; raises `ConfigurationError` for whatever is not fit to start with.

    On leaving, the worker stops, what waits stays in the spool, and every file is closed.
    """
    check(settings)
    async with AsyncExitStack() as stack:
        stack.enter_context(folder.held(settings.data_dir))
        secret = folder.secret(settings)
        keys = KeyRing(settings.data_dir / KEYS, settings.keys)
        tokens = TokenVerifier(settings.identity.jwt)
        authenticate = Authenticator(settings, keys, tokens, secret)
        upstream = _upstream(stack, settings, tokens)
        memory: MemoryServices | None = None
        steps: Sequence[Step[Exchange]] = ()
        learning: Learning | None = None
        if settings.memory:
            memory, steps = await _memory(stack, settings, secret, upstream)
            learning = Learning(memory.spool, memory.store)
            stack.push_async_callback(learning.close)
        steps = inbound(settings, authenticate, _by_name(DIALECTS), steps)

        def reload(new: Settings) -> None:
            found = targets(settings.all_upstreams)
            keys.configure(new.keys)
            upstream.reload(found)

        rooms = Rooms(
            proxy=Proxy(_parts(settings, steps, upstream, learning)),
            sockets=Realtime(steps, upstream),
            rest=api(Services(settings, authenticate, memory)),
        )
        yield Front(rooms, settings.server.cors_origins, reload)


def _upstream(stack: AsyncExitStack, settings: Settings, tokens: TokenVerifier) -> HttpUpstream:
    transport = AiohttpTransport()
    stack.push_async_callback(transport.aclose)
    if url := settings.identity.jwt.jwks_url:
        refreshing = keep_fresh(transport, url, tokens.load)
        stack.push_async_callback(_stopped, asyncio.create_task(refreshing))
    return HttpUpstream(targets(settings.all_upstreams), transport, transport.dial)


def _parts(
    settings: Settings,
    steps: Sequence[Step[Exchange]],
    upstream: HttpUpstream,
    learning: Learning | None,
) -> ProxyParts:
    upstreams = settings.all_upstreams
    several = len(upstreams) > 1 or any(upstream.rewrite for upstream in upstreams)
    return ProxyParts(
        inbound=steps,
        upstream=upstream,
        learning=learning,
        dialects=DIALECTS if settings.memory or several else {},
        several=several,
        body_limit=int(settings.server.body_limit_mb * MEGABYTE),
        body_idle=settings.server.body_idle_seconds,
    )


def api(services: Services) -> FastAPI:
    """The admin side: memory, health, metrics and their documentation."""
    application = FastAPIOffline(
        redoc_url=None, title="Remora", version=version("remora"), redirect_slashes=False
    )
    application.state.services = services
    application.include_router(health.router)
    application.include_router(memories.router)
    errors.install(application)
    Instrumentator().instrument(application).expose(application, include_in_schema=False)
    return application


async def _memory(
    stack: AsyncExitStack, settings: Settings, secret: bytes, upstream: Upstream
) -> tuple[MemoryServices, Sequence[Step[Exchange]]]:
    model = await asyncio.to_thread(load_model, settings.embedding)
    _give_memory_back()
    embed = Encoder(model, Lexical())
    stack.callback(embed.close)
    spec = StoreSpec(settings, embed, secret)
    store = await stack.enter_async_context(STORES[settings.store_name](spec))
    spool = SqliteSpool(
        settings.data_dir / SPOOL,
        max_waiting=settings.learning.max_waiting,
        keep_days=settings.learning.keep_receipts_days,
    )
    stack.push_async_callback(spool.close)
    rememberer = Rememberer(store, embed)
    quota = Quota(store, Caps(settings.learning.max_facts_per_day, settings.learning.max_rows))
    asking = Asking(settings.learning.inline.escalate_after)
    parts = ExtractorSpec(settings.learning, upstream, store, embed, asking)
    extractors = {name: make(parts) for name, make in EXTRACTORS.items()}
    extract, *write = outbound(settings, extractors, rememberer, quota)
    worker = Worker(spool, _learner(write), partial(run, [extract]))
    stack.push_async_callback(_stopped, asyncio.create_task(worker.run()))
    count = await asyncio.to_thread(token_counter)
    floor = calibration.kept(settings.data_dir, embed.identity) or model.floor
    gates = _gates(settings, count, floor)
    rewrite, dialects = settings.recall.rewrite, _by_name(DIALECTS)
    rewriter = Rewriter(rewrite, upstream) if rewrite.model else None
    recall = Remembering(store, store.pins, embed, gates, dialects, count, asking, rewriter)
    explain = explaining(settings, recall)
    revise = Reviser(store)
    services = MemoryServices(store, embed, rememberer, spool, worker, quota, revise, explain)
    return services, remembering(settings, recall)


def _give_memory_back() -> None:
    """Loading a model leaves some 60 MB of freed heap behind; glibc can return it."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def _gates(settings: Settings, count: Callable[[str], int], floor: float) -> dict[str, Gate]:
    recall = settings.recall
    half_life = timedelta(days=recall.episode_half_life_days)
    patterns = tuple(re.compile(pattern) for pattern in recall.block)
    weights = Weights(**recall.weights.model_dump())
    built_with = GateSettings(count, floor, half_life, weights, patterns)
    return {name: make(built_with) for name, make in GATES.items()}


def _learner(steps: Sequence[Step[Turn]]) -> Callable[[Turn], Awaitable[Receipt]]:
    async def learn(turn: Turn) -> Receipt:
        return receipt(await run(steps, turn))

    return learn


async def _stopped(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _by_name(dialects: Mapping[Any, Any]) -> dict[str, Any]:
    return {dialect.name: dialect for dialect in (PLAIN, *dialects.values())}
