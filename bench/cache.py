"""What memory does to the prompt cache: tokens that a real engine evaluates again.

llama.cpp with SmolLM2-135M counts exactly (`cached_tokens`). The same conversations run four times:
without memory; with all that is recalled in front, anew on each call; on the current turn only; and
as Remora does it. The assistant's part is scripted, so that all send the same words.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import httpx
from pydantic import SecretStr

from app import log
from app.domain import Placement
from app.main import create_app
from app.memory import STORES
from app.settings import RecallSettings, Settings
from bench.tools import picture, processes
from bench.tools.report import Target, arguments, finish, table
from bench.tools.scripts import FACTS, SCRIPTS, Message, Script, assistant, user
from demo.stage import language_model

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from app.memory import StoreSpec

NONE, FRONT, CURRENT, REMORA = "no memory", "in front", "current turn only", "Remora"
PICTURE = Path(__file__).parents[1] / "docs" / "cache.svg"
LONG = 100
ROUNDS = 60
HEADERS = {"Authorization": "Bearer sk-bench", "X-Memory": "read"}


@dataclass(slots=True)
class Row:
    """One way through one script; a figure for each call."""

    evaluated: list[int] = field(default_factory=list)
    cached: list[int] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    shown: dict[str, int] = field(default_factory=dict)

    @property
    def prompts(self) -> list[int]:
        """Tokens of the whole prompt of each call."""
        return [sum(pair) for pair in zip(self.evaluated, self.cached, strict=True)]

    @property
    def cost(self) -> float:
        """Tokens paid for, where a cached one costs a tenth."""
        return sum(self.evaluated) + 0.1 * sum(self.cached)


class Bench:
    """The engine, and Remoras that share one store, each placing blocks in its own way."""

    def __init__(self, engine: str, remoras: dict[str, list[httpx.AsyncClient]]) -> None:
        self._engine = engine
        self.remoras = remoras
        self.direct = httpx.AsyncClient(base_url=engine, timeout=60)
        self._contents: dict[str, str] = {}

    async def fill(self) -> None:
        """Remember the facts, once for all."""
        for fact in FACTS:
            answer = await self.remoras[REMORA][0].post("/v1/memory", json={"content": fact})
            self._contents[answer.raise_for_status().json()["id"]] = fact

    async def run(self, script: Script, name: str, ids: Sequence[list[str]] = ()) -> Row:
        """Each call of the script; `ids` are what goes in front on each."""
        row = Row()
        system = {"role": "system", "content": f"You help with {script.name}, {name}."}
        clients = [self.direct] if name in (NONE, FRONT) else self.remoras[name]
        if "replicas" not in script.name:
            clients = clients[:1]
        for number, call in enumerate(script.calls):
            history = [system, *call]
            if ids:
                history.insert(1, {"role": "system", "content": self._front(ids[number])})
            await self._call(row, clients[number % len(clients)], history)
        tokens = {fact: await self.tokens(f"- {self._contents[fact]}\n") for fact in row.shown}
        row.shown = tokens
        return row

    async def recalled(self, script: Script) -> list[list[str]]:
        """What is recalled on each call, by itself."""
        found = []
        for call in script.calls:
            row = Row()
            await self._call(row, self.remoras[CURRENT][0], list(call))
            found.append(list(row.shown))
        return found

    async def tokens(self, text: str) -> int:
        """How many tokens a text has for the model."""
        answer = await self.direct.post("/tokenize", json={"content": text})
        return len(answer.json()["tokens"])

    def _front(self, ids: Sequence[str]) -> str:
        return "\n".join(("What is known:", *(f"- {self._contents[key]}" for key in ids)))

    async def _call(self, row: Row, client: httpx.AsyncClient, history: list[Message]) -> None:
        body = {"messages": history, "max_tokens": 1, "temperature": 0, "cache_prompt": True}
        answer = await client.post("/v1/chat/completions", json=body)
        told = answer.raise_for_status().json()
        cached = told["usage"]["prompt_tokens_details"]["cached_tokens"]
        row.cached.append(cached)
        row.evaluated.append(told["usage"]["prompt_tokens"] - cached)
        row.milliseconds.append(told["timings"]["prompt_ms"])
        if ids := answer.headers.get("x-memory-ids"):
            row.shown |= dict.fromkeys(ids.split(","), 0)


@asynccontextmanager
async def started(engine: str, folder: Path) -> AsyncIterator[Bench]:
    """Two replicas as they come, and one that only uses the current turn, over one store."""
    real = STORES["edge"]
    opened: list[Any] = []

    @asynccontextmanager
    async def shared(spec: StoreSpec) -> AsyncIterator[Any]:
        if not opened:
            async with real(spec) as store:
                opened.append(store)
                yield store
        else:
            yield opened[0]

    STORES["edge"] = shared
    remoras: dict[str, list[httpx.AsyncClient]] = {REMORA: [], CURRENT: []}
    async with AsyncExitStack() as stack:
        kinds = {REMORA: Placement.PREFIX_STABLE, CURRENT: Placement.CURRENT_TURN}
        for number, name in enumerate((REMORA, REMORA, CURRENT)):
            settings = Settings(
                upstream_url=f"{engine}/v1",
                data_dir=folder / str(number),
                recall=RecallSettings(placement=kinds[name], budget_ms=5_000),
                secret=SecretStr("shared by all replicas"),
            )
            app = await stack.enter_async_context(create_app(settings))
            transport = httpx.ASGITransport(app=app)
            client = httpx.AsyncClient(
                transport=transport, base_url="http://remora", headers=HEADERS, timeout=60
            )
            remoras[name].append(await stack.enter_async_context(client))
        bench = Bench(engine, remoras)
        await bench.fill()
        yield bench
        await bench.direct.aclose()
    STORES["edge"] = real


async def measure(folder: Path) -> dict[str, dict[str, Row]]:
    """Every script in all four ways."""
    found = {}
    with language_model() as engine:
        async with started(engine, folder) as bench:
            for script in SCRIPTS:
                ids = await bench.recalled(script)
                ways = {NONE: (), FRONT: ids, CURRENT: (), REMORA: ()}
                found[script.name] = {
                    name: await bench.run(script, name, ways[name]) for name in ways
                }
    return found


async def added(folder: Path, upstream: int) -> float:
    """Milliseconds that pins add to a call with a hundred turns behind it, p50."""
    async with started(f"http://127.0.0.1:{upstream}", folder) as bench:
        history = [user("Hello!")]
        for number in range(LONG):
            question = SCRIPTS[0].calls[number % 8][-1]["content"]
            history += [assistant("Yes."), user(f"{question} ({number})")]
            if number % 10 == 0:
                await _overhead(bench.remoras[REMORA][0], history)
        times: dict[str, list[float]] = {REMORA: [], CURRENT: []}
        for number in range(ROUNDS):
            last = [
                *history,
                assistant("Yes."),
                user(f"{SCRIPTS[0].calls[7][-1]['content']} {number}"),
            ]
            for name, seen in times.items():
                await _overhead(bench.remoras[name][0], [*last[:-1], user("warm")])
                seen.append(await _overhead(bench.remoras[name][0], last))
    middle = {name: sorted(seen)[len(seen) // 2] for name, seen in times.items()}
    return middle[REMORA] - middle[CURRENT]


async def _overhead(client: httpx.AsyncClient, history: list[Message]) -> float:
    answer = await client.post("/v1/chat/completions", json={"messages": history})
    return float(answer.raise_for_status().headers["x-memory-overhead-ms"])


def judge(script: Script, rows: dict[str, Row]) -> list[Target]:
    """Print the table of one script; its target."""
    lines = [
        [
            way,
            sum(row.prompts),
            sum(row.evaluated),
            sum(row.cached),
            row.cost,
            sum(row.milliseconds),
            len(row.shown) or "-",
        ]
        for way, row in rows.items()
    ]
    columns = ["way", "prompt", "evaluated", "cached", "cost", "prefill ms", "memories"]
    table(f"{script.name}: {len(script.calls)} calls", columns, lines)
    tokens = blocks(script, rows[NONE], rows[REMORA])
    bare = rows[REMORA].shown.values()
    print(f"{len(bare)} memories: {sum(bare)} tokens as lines, {tokens} with fences and dates")
    more = sum(rows[REMORA].evaluated) - sum(rows[NONE].evaluated)
    short = script.name.partition(",")[0].replace(" ", "_")
    return [Target(f"{short}_evaluated_over_shown", more / max(tokens, 1), 1.15)]


def figures(found: dict[str, dict[str, Row]]) -> dict[str, object]:
    """All figures of all calls."""
    return {name: {way: asdict(row) for way, row in rows.items()} for name, rows in found.items()}


def blocks(script: Script, none: Row, remora: Row) -> int:
    """Tokens of all blocks: by how much each prompt is longer than the one it goes on from.

    Exact, in the model's own tokens; each block counts once in each branch of the conversation.
    """
    longer = [one - other for one, other in zip(remora.prompts, none.prompts, strict=True)]
    return sum(
        own - (longer[before] if (before := parent(script, place)) is not None else 0)
        for place, own in enumerate(longer)
    )


def parent(script: Script, place: int) -> int | None:
    """The last call before this one that it goes on from."""
    call = script.calls[place]
    earlier = (
        n for n in range(place - 1, -1, -1) if call[: len(script.calls[n])] == script.calls[n]
    )
    return next(earlier, None)


def main() -> None:
    """Measure, print, judge, draw."""
    log.set_up("warning")
    options = arguments(__doc__ or "", svg="draw docs/cache.svg anew")
    with tempfile.TemporaryDirectory() as folder, processes.upstream() as upstream:
        found = asyncio.run(measure(Path(folder)))
        milliseconds = asyncio.run(added(Path(folder) / "long", upstream))
    targets = [target for script in SCRIPTS for target in judge(script, found[script.name])]
    loop = found[SCRIPTS[1].name]
    again = sum(loop[REMORA].evaluated[1:]) - sum(loop[NONE].evaluated[1:])
    targets.append(Target("tool_loop_evaluated_again", again, 0))
    targets.append(Target("pins_added_p50_ms_at_100_turns", milliseconds, 1))
    if options.svg:
        first = {name: row.evaluated for name, row in found[SCRIPTS[0].name].items()}
        title = "Prompt tokens evaluated on each turn of a chat"
        PICTURE.write_text(picture.lines(title, "turn 1 to 8", first))
    finish({"scripts": figures(found)}, targets, options.json)


if __name__ == "__main__":
    main()
