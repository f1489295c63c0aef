"""`remora reindex`: brings the memories of another embedding model over to the one that is set."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from app import folder
from app.cli.faults import one_line_per_fault
from app.cli.options import File
from app.errors import ConfigurationError
from app.memory import COLLECTIONS, StoreSpec
from app.memory import reindex as moving
from app.memory.embed import Encoder, Lexical, load_model
from app.settings import load

if TYPE_CHECKING:
    from app.memory.reindex import Tally
    from app.memory.stores.moving import Collections
    from app.ports import Embed
    from app.settings import Settings

# Seconds between two lines of progress.
PACE: Final = 2.0


def reindex(
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Tell, but change nothing.")] = False,
    delete_old: Annotated[
        bool, typer.Option("--delete-old", help="Keep nothing of the old collections.")
    ] = False,
    settings: File = None,
) -> None:
    """Embed the memories of another model anew for the one that is set; stop the server first."""
    with one_line_per_fault():
        asyncio.run(_reindex(load(settings), dry_run=dry_run, delete_old=delete_old))


async def _reindex(settings: Settings, *, dry_run: bool, delete_old: bool) -> None:
    if settings.store_name not in COLLECTIONS:
        raise ConfigurationError(f"store: {settings.store_name!r} keeps nothing to embed anew")
    async with AsyncExitStack() as stack:
        stack.enter_context(folder.held(settings.data_dir))
        embed = Encoder(load_model(settings.embedding), Lexical())
        stack.callback(embed.close)
        spec = StoreSpec(settings, embed, folder.secret(settings))
        opened = COLLECTIONS[settings.store_name](spec)
        collections = await stack.enter_async_context(opened)
        total = await _told(collections)
        if total and dry_run:
            typer.echo("nothing was changed")
        elif total:
            await _done(collections, embed, total, delete=delete_old)


async def _told(collections: Collections[Any]) -> int:
    """Say what there is to do; how many rows that are, at least 1 unless there is nothing."""
    names = await collections.older()
    if not names:
        typer.echo(f"nothing to do: no other collection than {collections.name}")
        return 0
    total = 0
    for name in names:
        async with collections.source(name) as source:
            size = await source.size()
        total += size.rows
        typer.echo(f"{name}: {size.rows} rows, {size.indexed} to embed anew", err=True)
    typer.echo(f"they go to {collections.name}", err=True)
    return max(total, 1)


async def _done(collections: Collections[Any], embed: Embed, total: int, *, delete: bool) -> None:
    progress = _Progress(total)
    tally, left = await moving.reindex(collections, embed, delete=delete, progress=progress)
    seconds = progress.seconds()
    typer.echo(
        f"{collections.name} is in use: of {tally.read} rows {tally.written} brought over, "
        f"{tally.read - tally.written} there already or outdated, {tally.embedded} embedded, "
        f"{tally.damaged} damaged and as they were, in {seconds:.1f} s; "
        + (f"kept, and not used any more: {', '.join(left)}" if left else "the old are deleted")
    )


class _Progress:
    """One line every `PACE` seconds."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._begun = self._told = monotonic()

    def __call__(self, tally: Tally) -> None:
        if monotonic() - self._told >= PACE:
            self._told = monotonic()
            rate = tally.read / self.seconds()
            typer.echo(f"{tally.read} of {self._total} rows, {rate:.0f} a second", err=True)

    def seconds(self) -> float:
        """Since the beginning."""
        return max(monotonic() - self._begun, 0.001)
