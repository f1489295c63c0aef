"""`remora keys`: made, listed and revoked here; a running server notices within a second."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.faults import one_line_per_fault
from app.cli.options import File
from app.errors import ConfigurationError
from app.identity import KEYS, KeyRing, new_key
from app.settings import Principal, load

if TYPE_CHECKING:
    from pathlib import Path

keys = typer.Typer(help="Keys that stand for a person, an app and a project.", no_args_is_help=True)


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
    with one_line_per_fault():
        if user is None and not admin and not multi_user:
            raise ConfigurationError("say whose key it is: --user NAME, --multi-user or --admin")
        stands_for = Principal(
            user=user, project=project, app=app, tenant=tenant, admin=admin, multi_user=multi_user
        )
        key, stored = new_key(stands_for)
        _ring(settings).add(stored)
    typer.echo(f"{stored.id}  (kept as a hash; the key itself is shown this once)", err=True)
    typer.echo(key)


@keys.command("list")
def show(settings: File = None) -> None:
    """List the keys, without the keys."""
    with one_line_per_fault():
        stored = _ring(settings).stored
    if not stored:
        typer.echo("no keys yet; make one: remora keys new --user NAME", err=True)
    for key in stored:
        facts = key.model_dump(exclude={"id", "sha256", "created_at"}, exclude_defaults=True)
        words = " ".join(f"{name}={value}" for name, value in facts.items())
        typer.echo(f"{key.id}  {key.created_at:%Y-%m-%d}  {words}")


@keys.command()
def revoke(key_id: str, settings: File = None) -> None:
    """Revoke a key by its id; a running server notices within a second."""
    with one_line_per_fault():
        if not _ring(settings).revoke(key_id):
            raise ConfigurationError(f"{key_id}: there is no such key; see: remora keys list")
    typer.echo(f"{key_id} is revoked", err=True)


def _ring(file: Path | None) -> KeyRing:
    settings = load(file)
    return KeyRing(settings.data_dir / KEYS, settings.keys)
