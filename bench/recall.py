"""Whether the right memory reaches the prompt, and nothing else, and what that costs.

Everything goes through the product's own encoder, embedded store, recall filter and gate. Public
data are read from ../shared/data or DATA_PATH (left out where absent); LongMemEval runs when
LONGMEMEVAL_PATH names a file of it.

R@10: of the memories that answer a question, the share among the first ten, averaged over the
questions. In n tokens: the share that a block of n tokens holds whole, packed in that order by the
product's own packing (fence, one line each, dates). Session in 5: whether one of the conversations
that answer is among the first five. Through the gate: the share that a call with the shipped policy
is given. Beside the product's order, over the same candidates: chance, BM25 alone, cosine alone and
their weighted sum. Precision and recall (PrecisionMemBench) are means over the cases that expect
something; a case that is given nothing has precision 0. True: questions that are given the fact
they need; false: everyday prompts that are given anything.

--quick: the same encoder on a part of it: the first conversation of LoCoMo and of BEAM (shown, not
judged) and no large store; everything else is whole.
"""

from __future__ import annotations

import asyncio
import os
import platform
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from app.memory.embed import EMBEDDERS, load_model
from app.memory.embed.bundled import SHA256
from app.memory.lexical import Lexical
from bench.tools.embeddings import KeptModel
from bench.tools.memories import SETTINGS
from bench.tools.ranking import SEED
from bench.tools.recall_facts import false_injection_part, languages_part
from bench.tools.recall_precision import precision_part
from bench.tools.recall_speed import gate_part, store_part
from bench.tools.recall_talks import beam_part, locomo_part, longmemeval_part
from bench.tools.report import Target, finish, parser

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator

    from app.memory.embed import Model

    Part = tuple[dict[str, object], list[Target]]

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("DATA_PATH", ROOT.parent / "shared" / "data"))


def parts(model: Model, *, quick: bool, data: Path = DATA) -> Iterator[Awaitable[Part]]:
    """What is measured, in the order in which it is printed."""
    if data.is_dir():
        limit = 1 if quick else None
        yield _unjudged(locomo_part(model, data, limit), quick)
        yield _unjudged(beam_part(model, data, limit), quick)
        yield precision_part(model, data)
    else:
        print(f"{data} is absent: measured on the project's own data only")
    yield false_injection_part(model)
    yield languages_part(model)
    yield gate_part(model)
    if not quick:
        yield store_part(model)
    path = os.environ.get("LONGMEMEVAL_PATH")
    if path and not quick:
        yield longmemeval_part(model, Path(path))


async def _unjudged(part: Awaitable[Part], quick: bool) -> Part:  # noqa: FBT001
    """A part of the data has no target."""
    figures, targets = await part
    return figures, [] if quick else targets


async def measure(model: Model, *, quick: bool) -> tuple[dict[str, object], list[Target]]:
    """All figures and targets, and what they were measured with."""
    identity = f"{model.identity}-{model.shape.dense}-{Lexical.version}"
    figures: dict[str, object] = {
        "model": identity,
        "sha256": SHA256 if model.identity.startswith("minilm") else None,
        "floor": model.floor,
        "seed": SEED,
        "quick": quick,
        "candidates": SETTINGS.candidates,
        "python": platform.python_version(),
    }
    print(__doc__)
    print(*(f"{name}: {value}" for name, value in figures.items()), sep="\n")
    figures["definitions"] = __doc__
    targets: list[Target] = []
    for part in parts(model, quick=quick):
        began = time.perf_counter()
        seen, judged = await part
        print(f"({time.perf_counter() - began:.0f} s)")
        figures |= seen
        targets += judged
    return figures, targets


def main() -> None:
    """Measure, print, judge."""
    reader = parser(__doc__ or "", cache="keep embeddings in the temporary folder")
    known = ", ".join(EMBEDDERS)
    reader.add_argument("--embedder", default="bundled", help=f"{known}, or as in the settings")
    options = reader.parse_args()
    model = load_model(options.embedder)
    if options.cache:
        model = KeptModel(model)
    figures, targets = asyncio.run(measure(model, quick=options.quick))
    finish(figures, targets, options.json)


if __name__ == "__main__":
    main()
