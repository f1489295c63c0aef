"""The running server: uvicorn, signals, and what a person sees at the terminal."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import socket
from typing import TYPE_CHECKING, Final

import structlog
import typer
import uvicorn

from app.errors import ConfigurationError
from app.main import create_app
from app.settings import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import FrameType

    from starlette.types import ASGIApp

    from app.routes.front import Front
    from app.settings import Settings

_log = structlog.get_logger()
# Objects made before the collector looks for cycles among the new ones (default: 700).
GARBAGE: Final = 20_000


async def run(settings: Settings, file: Path | None = None) -> None:
    """Serve until a signal; `file` is where SIGHUP reads the keys again."""
    async with create_app(settings) as app:
        with contextlib.closing(listen(settings)) as listener:
            server = _Server(uvicorn_config(app, settings), lambda: reload(app, file))
            _greet(settings, listener)
            _calm_the_collector()
            await server.serve(sockets=[listener])


def _calm_the_collector() -> None:
    """What is there now stays; a call makes few cycles, so look for them less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE)


def reload(app: Front, file: Path | None) -> None:
    """Take the keys as they are now; on a fault everything stays as it is."""
    try:
        app.reload(load(file))
    except ConfigurationError as error:
        _log.error("not_reloaded", faults=error.faults)
    else:
        _log.info("reloaded", what="keys")


class _Server(uvicorn.Server):
    """uvicorn raises a signal again after its own shutdown, which would cut off ours."""

    def __init__(self, config: uvicorn.Config, reload: Callable[[], None]) -> None:
        super().__init__(config)
        self._reload = reload

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        loop.add_signal_handler(signal.SIGHUP, self._reload)
        yield

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.server_state.connections and not self.should_exit:
            seconds = self.config.timeout_graceful_shutdown
            typer.echo(f"Remora stops; running answers have {seconds} s to end.", err=True)
        super().handle_exit(sig, frame)


def uvicorn_config(app: ASGIApp, settings: Settings) -> uvicorn.Config:
    """How uvicorn serves Remora: no headers, logs or lifespan of its own."""
    return uvicorn.Config(
        app,
        http="httptools",
        ws="websockets-sansio",
        ws_max_size=int(settings.server.body_limit_mb * 1_048_576),
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=settings.server.keep_alive_seconds,
        timeout_graceful_shutdown=settings.server.shutdown_seconds,
    )


def listen(settings: Settings) -> socket.socket:
    """The socket to serve on; raises `ConfigurationError` where that cannot be had."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        found = socket.create_server((settings.host, settings.port), family=family, backlog=2048)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise ConfigurationError(
            f"cannot listen on {settings.host}:{settings.port}: {reason}; "
            "set REMORA_HOST and REMORA_PORT"
        ) from None
    # Accepted connections inherit it; without it the second write of an answer waits 40 ms.
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return found


def _greet(settings: Settings, listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    names = ", ".join(f"{u.name} ({u.url})" for u in settings.all_upstreams)
    typer.echo(
        f"Remora listens on http://{host}:{port}/v1\n"
        f"  upstream: {names}\n  memory: {_place(settings)}\n  stop with Ctrl-C",
        err=True,
    )


def _place(settings: Settings) -> str:
    if not settings.memory:
        return "off"
    places = {
        "edge": str(settings.data_dir),
        "qdrant": f"{settings.qdrant_url} (queue and keys: {settings.data_dir})",
        "memory": f"gone at the stop (queue and keys: {settings.data_dir})",
    }
    return places[settings.store_name]
