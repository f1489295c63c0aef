"""`remora calibrate`: fits the relevance floor on the memories of this server."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Annotated, Final

import typer

from app import folder
from app.cli.faults import one_line_per_fault
from app.cli.options import File
from app.domain import MemoryType, State, Tenant, Where
from app.memory import STORES, StoreSpec
from app.memory.calibration import Calibration, everyday_prompts, fitted, keep, question
from app.memory.embed import Encoder, Lexical, load_model
from app.settings import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.domain import Memory, Owner, Vectors
    from app.ports import Embed, Store
    from app.settings import Settings

FACTS: Final = Where(states=frozenset({State.ACTIVE}), types=frozenset({MemoryType.SEMANTIC}))
MOST: Final = 2_000
PAGE: Final = 500


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
        return embed.identity, fitted(*await _cosines(embed, facts))


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


async def _cosines(embed: Embed, facts: Sequence[Memory]) -> tuple[list[float], list[float]]:
    """Of each question with its fact; of each everyday prompt with the nearest fact of a person."""
    vectors = await embed.documents([memory.fact.content for memory in facts])
    whose: dict[Owner, list[Vectors]] = defaultdict(list)
    true: list[float] = []
    for memory, vector in zip(facts, vectors, strict=True):
        whose[memory.owner].append(vector)
        if (asked := question(memory.fact)) is not None:
            true.append(_cosine(await embed.query(asked), vector))
    prompts = [await embed.query(prompt) for prompt in everyday_prompts()]
    false = [
        max(_cosine(prompt, vector) for vector in theirs)
        for theirs in whose.values()
        for prompt in prompts
    ]
    return true, false


def _cosine(one: Vectors, other: Vectors) -> float:
    return sum(a * b for a, b in zip(one.dense, other.dense, strict=True))
