"""The `remora` command."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
import uvicorn
import uvloop

from app import log, reference
from app.errors import ConfigurationError
from app.identity import KeyRing, new_key
from app.main import KEYS, create_app
from app.settings import KeySettings, Settings, load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import ASGIApp

main = typer.Typer(
    help="An OpenAI-compatible reverse proxy that gives any client long-term memory.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
keys = typer.Typer(help="Keys that stand for a person, an app and a project.", no_args_is_help=True)
main.add_typer(keys, name="keys")

File = Annotated[Path | None, typer.Option("--settings", help="Default: settings.toml, if there.")]
BAD_CONFIGURATION: Final = 2
LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


@main.command()
def serve(settings: File = None) -> None:
    """Start the proxy."""
    with _one_line_per_fault():
        chosen = load(settings)
        log.set_up(chosen.log_level)
        _refuse_open_relay(chosen)
        with contextlib.closing(_listen(chosen)) as listener:
            uvloop.run(_serve(chosen, listener))


@keys.command("new")
def new(  # noqa: PLR0913 one option for each thing that a key can stand for
    *,
    user: Annotated[str | None, typer.Option(help="Whose memory.")] = None,
    project: Annotated[str | None, typer.Option(help="Shared project pool.")] = None,
    app: Annotated[str | None, typer.Option(help="Name of the app that uses it.")] = None,
    tenant: Annotated[str, typer.Option(help="Tenant it belongs to.")] = "default",
    admin: Annotated[bool, typer.Option("--admin", help="May see and delete anyone's.")] = False,
    multi_user: Annotated[
        bool, typer.Option("--multi-user", help="May name an end user on each call.")
    ] = False,
    settings: File = None,
) -> None:
    """Make a key and print it, once."""
    with _one_line_per_fault():
        if user is None and not admin and not multi_user:
            raise ConfigurationError("say whose key it is: --user NAME, --multi-user or --admin")
        stands_for = KeySettings(
            user=user, project=project, app=app, tenant=tenant, admin=admin, multi_user=multi_user
        )
        key, stored = new_key(stands_for)
        _ring(settings).add(stored)
    typer.echo(f"{stored.id}  (kept as a hash; the key itself is shown this once)", err=True)
    typer.echo(key)


@keys.command("list")
def show(settings: File = None) -> None:
    """List the keys, without the keys."""
    with _one_line_per_fault():
        for key in _ring(settings).stored:
            facts = key.model_dump(exclude={"id", "sha256", "created_at"}, exclude_defaults=True)
            words = " ".join(f"{name}={value}" for name, value in facts.items())
            typer.echo(f"{key.id}  {key.created_at:%Y-%m-%d}  {words}")


@keys.command()
def revoke(key_id: str, settings: File = None) -> None:
    """Revoke a key by its id; a running server notices within a second."""
    with _one_line_per_fault():
        if not _ring(settings).revoke(key_id):
            raise ConfigurationError(f"{key_id}: there is no such key; see: remora keys list")


class Form(StrEnum):
    """A document made of the settings."""

    TOML = "toml"
    MARKDOWN = "markdown"


@main.command("settings")
def describe(form: Annotated[Form, typer.Option("--as")] = Form.TOML) -> None:
    """Print every setting with its default, ready to become settings.toml."""
    typer.echo(reference.markdown() if form is Form.MARKDOWN else reference.example(), nl=False)


class _Server(uvicorn.Server):
    """uvicorn raises a signal again after its own shutdown, which would cut off ours."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield


async def _serve(settings: Settings, listener: socket.socket) -> None:
    async with create_app(settings) as app:
        server = _Server(uvicorn_config(app, settings))
        _greet(settings, listener)
        await server.serve(sockets=[listener])


def uvicorn_config(app: ASGIApp, settings: Settings) -> uvicorn.Config:
    """How uvicorn serves Remora: no headers, logs or lifespan of its own."""
    return uvicorn.Config(
        app,
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=settings.server.keep_alive_seconds,
        timeout_graceful_shutdown=settings.server.shutdown_seconds,
    )


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=2048)
    except OSError as error:
        raise ConfigurationError(
            f"cannot listen on {settings.host}:{settings.port}: {error.strerror or error}; "
            "set REMORA_HOST and REMORA_PORT"
        ) from None


def _greet(settings: Settings, listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    names = ", ".join(f"{u.name} ({u.url})" for u in settings.all_upstreams)
    memory = settings.data_dir if settings.memory else "off"
    typer.echo(
        f"Remora listens on http://{settings.host}:{port}/v1\n"
        f"  upstream: {names}\n  memory: {memory}\n  stop with Ctrl-C",
        err=True,
    )


def _refuse_open_relay(settings: Settings) -> None:
    """On a public address, an upstream key without client keys is open to anybody (G24)."""
    paid = any(upstream.has_key for upstream in settings.all_upstreams)
    if not paid or settings.host in LOOPBACK or settings.identity.required:
        return
    if not KeyRing(settings.data_dir / KEYS, settings.keys):
        raise ConfigurationError(
            f"host {settings.host}: with an upstream key and no client keys anybody could use it; "
            "make one first: remora keys new --user NAME"
        )


def _ring(file: Path | None) -> KeyRing:
    settings = load(file)
    return KeyRing(settings.data_dir / KEYS, settings.keys)


@contextlib.contextmanager
def _one_line_per_fault() -> Iterator[None]:
    try:
        yield
    except ConfigurationError as error:
        for fault in error.faults:
            typer.echo(f"remora: {fault}", err=True)
        sys.exit(BAD_CONFIGURATION)
