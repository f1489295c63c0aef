"""The commands."""

from __future__ import annotations

import os
from enum import StrEnum
from importlib.metadata import version
from typing import Annotated

import typer
import uvloop

from app import log, reference
from app.checks import check
from app.cli.calibrate import calibrate
from app.cli.faults import one_line_per_fault
from app.cli.keys import keys
from app.cli.options import File
from app.cli.reindex import reindex
from app.cli.serve import run
from app.settings import load

main = typer.Typer(
    help="An OpenAI-compatible reverse proxy that gives any client long-term memory.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
main.add_typer(keys, name="keys")
main.command()(calibrate)
main.command()(reindex)


def _show_version(wanted: bool) -> None:  # noqa: FBT001 typer calls it
    if wanted:
        typer.echo(f"remora {version('remora')}")
        raise typer.Exit


@main.callback()
def _always(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    os.umask(0o077)  # whatever is written is for this user alone


@main.command()
def serve(settings: File = None) -> None:
    """Start the proxy."""
    with one_line_per_fault():
        chosen = load(settings)
        log.set_up(chosen.log_level)
        uvloop.run(run(chosen, settings))


@main.command("check")
def verify(settings: File = None) -> None:
    """Print the effective configuration, secrets masked, and every fault; 0 if there is none."""
    with one_line_per_fault():
        chosen = load(settings)
        typer.echo(reference.effective(chosen), nl=False)
        check(chosen)
    typer.echo("no fault found", err=True)


class Form(StrEnum):
    """A document made of the settings."""

    TOML = "toml"
    MARKDOWN = "markdown"
    SCHEMA = "schema"


@main.command("settings")
def describe(form: Annotated[Form, typer.Option("--as")] = Form.TOML) -> None:
    """Print every setting with its default, ready to become settings.toml."""
    made = {
        Form.TOML: reference.example,
        Form.MARKDOWN: reference.markdown,
        Form.SCHEMA: reference.schema,
    }
    typer.echo(made[form](), nl=False)
