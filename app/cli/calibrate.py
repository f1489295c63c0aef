"""`remora calibrate`: fits the relevance floor on the memories of this server."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from app import folder
from app.cli.faults import one_line_per_fault
from app.cli.options import File
from app.domain import MemoryType, State, Tenant, Where
from app.memory import STORES, StoreSpec
from app.memory.calibration import Calibration, everyday_prompts, fitted, keep, question
from app.memory.embed import Encoder, Lexical, load_model
from app.memory.fusion import RELEVANCE
from app.settings import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.domain import Memory, Owner, Vectors
    from app.ports import Embed, Store
    from app.settings import Settings

FACTS: Final = Where(states=frozenset({State.ACTIVE}), types=frozenset({MemoryType.SEMANTIC}))
MOST: Final = 2_000
PAGE: Final = 500
# Each is asked every everyday prompt.
OWNERS: Final = 50
# The most relevant one is not always the first.
LOOK: Final = 5


def calibrate(
    *,
    tenant: Annotated[str, typer.Option(help="Whose memories to fit on.")] = "default",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Fit, but keep nothing.")] = False,
    settings: File = None,
) -> None:
    """Fit the relevance floor on the memories that are there; stop the server first."""
    with one_line_per_fault():
        chosen = load(settings)
        identity, found = asyncio.run(_fit(chosen, Tenant(tenant)))
        if not dry_run:
            keep(chosen.data_dir, identity, found)
    typer.echo(f"{found.floor:.2f}  for {identity}")
    typer.echo(
        f"of {found.questions} questions {found.true:.0%} find their memory above it, "
        f"of {len(everyday_prompts())} everyday prompts {found.false:.0%} find any",
        err=True,
    )
    if chosen.recall.threshold is not None:
        typer.echo("recall.threshold is set, and wins", err=True)


async def _fit(settings: Settings, tenant: Tenant) -> tuple[str, Calibration]:
    async with AsyncExitStack() as stack:
        stack.enter_context(folder.held(settings.data_dir))
        embed = Encoder(load_model(settings.embedding), Lexical())
        stack.callback(embed.close)
        spec = StoreSpec(settings, embed, folder.secret(settings))
        store = await stack.enter_async_context(STORES[settings.store_name](spec))
        facts = await _facts(store, tenant)
        return embed.identity, fitted(*await _measured(store, embed, facts))


async def _facts(store: Store, tenant: Tenant) -> list[Memory]:
    facts: list[Memory] = []
    after = None
    while len(facts) < MOST:
        page = await store.find(tenant, FACTS, limit=PAGE, after=after)
        facts += page.memories
        if not page.has_more:
            break
        after = page.memories[-1].id
    return facts


async def _measured(
    store: Store, embed: Embed, facts: Sequence[Memory]
) -> tuple[list[float], list[float]]:
    """The relevance of each question's fact, and of the best fact for each everyday prompt."""
    true: list[float] = []
    for memory in facts:
        if (asked := question(memory.fact)) is not None:
            only = replace(FACTS, ids=frozenset({memory.id}))
            true.append(await _best(store, memory.owner, await embed.query(asked), only))
    owners = list(dict.fromkeys(memory.owner for memory in facts))[:OWNERS]
    prompts = [await embed.query(prompt) for prompt in everyday_prompts()]
    false = [await _best(store, owner, prompt, FACTS) for owner in owners for prompt in prompts]
    return true, false


async def _best(store: Store, owner: Owner, asked: Vectors, where: Where) -> float:
    found = await store.search(owner, asked, where, LOOK)
    return max((candidate.scores[RELEVANCE] for candidate in found), default=0.0)
