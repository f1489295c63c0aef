"""The main job, end to end: a person says something, comes back in a new session, is remembered.

A real language model (SmolLM2-135M on llama.cpp), the official SDK, no key, no network.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
from openai import OpenAI
from rich.console import Console
from rich.panel import Panel
from rich.table import Table

from demo.stage import Remora, language_model, remora
from demo.tap import Tap

KEY = "sk-anas-own-key"
SAID = "Hi! I'm Ana, I live in Boston and my dog is called Rex."
ASKED = "What is my dog called?"
out = Console(highlight=False)


def main() -> None:
    """Play the two sessions."""
    out.rule("[bold]Remora: a memory for any client, by changing one base_url")
    with (
        tempfile.TemporaryDirectory() as folder,
        out.status("starting a language model and Remora …") as status,
        language_model() as model,
        Tap(model) as tap,
        remora(Path(folder) / "data", REMORA_UPSTREAM_URL=tap.url) as proxy,
    ):
        status.stop()
        out.print(f"[dim]client = OpenAI(base_url={proxy.url + '/v1'!r})[/]\n")
        first_session(proxy)
        second_session(proxy, tap)
        somebody_else(proxy, tap)
        forget(proxy, tap)


def first_session(proxy: Remora) -> None:
    """Ana says three things about herself."""
    out.rule("Monday: Ana talks to a model")
    answer, headers = ask(proxy, SAID)
    say("Ana", SAID, "cyan")
    say("model", answer, "white")
    show_receipt(proxy, headers)


def second_session(proxy: Remora, tap: Tap) -> None:
    """Another day, another tool, no history."""
    out.rule("Tuesday: another tool, no history")
    without = ask_directly(tap)
    say("Ana", ASKED, "cyan")
    answer, headers = ask(proxy, ASKED)
    out.print(Panel(tap.last_turn, title="what the model was given", border_style="yellow"))
    say("model", answer, "bold green")
    say("the same model without Remora", without, "dim")
    names = ("x-memory-status", "x-memory-ids", "x-memory-tokens", "x-memory-overhead-ms")
    out.print("\n".join(f"[dim]{name}: {headers[name]}[/]" for name in names), "\n")


def somebody_else(proxy: Remora, tap: Tap) -> None:
    """Another key is another person."""
    out.rule("Ben asks the same, with his own key")
    ask(proxy, ASKED, key="sk-bens-own-key")
    out.print(Panel(tap.last_turn, title="what the model was given", border_style="yellow"))


def forget(proxy: Remora, tap: Tap) -> None:
    """One call, and it is gone."""
    out.rule("Ana wants it forgotten")
    with httpx.Client(base_url=proxy.url, headers={"Authorization": f"Bearer {KEY}"}) as client:
        deleted = client.delete("/v1/memory", params={"all": "true"}).json()
    out.print(f"DELETE /v1/memory?all=true → {deleted}")
    ask(proxy, ASKED)
    out.print(Panel(tap.last_turn, title="what the model was given", border_style="yellow"))


def ask(proxy: Remora, text: str, key: str = KEY) -> tuple[str, Mapping[str, str]]:
    """One turn of a client that knows nothing of Remora."""
    return chat(OpenAI(base_url=f"{proxy.url}/v1", api_key=key), text)


def ask_directly(tap: Tap) -> str:
    """The same question without Remora in between."""
    return chat(OpenAI(base_url=tap.url, api_key=KEY), ASKED)[0]


def chat(client: OpenAI, text: str) -> tuple[str, Mapping[str, str]]:
    """A new session with one turn."""
    answer = client.chat.completions.with_raw_response.create(
        model="smollm2",
        messages=[
            {"role": "system", "content": "You are a helpful assistant."},
            {"role": "user", "content": text},
        ],
        temperature=0,
        max_tokens=40,
    )
    return answer.parse().choices[0].message.content or "", answer.headers


def show_receipt(proxy: Remora, headers: Mapping[str, str]) -> None:
    """What became of the turn."""
    receipt = wait_for_receipt(proxy, headers["x-remora-request-id"])
    with httpx.Client(base_url=proxy.url, headers={"Authorization": f"Bearer {KEY}"}) as client:
        rows = client.get("/v1/memory", params={"type": "semantic"}).json()["data"]
    table = Table(title=f"what was remembered ({receipt['outcome']})", title_justify="left")
    for name in ("content", "slot", "said as"):
        table.add_column(name)
    for row in reversed(rows):
        table.add_row(row["content"], row["slot"] or "", row["quote"] or "")
    out.print(table, "\n")


def wait_for_receipt(proxy: Remora, request_id: str) -> dict[str, Any]:
    """The receipt is there a moment after the answer."""
    with httpx.Client(base_url=proxy.url, headers={"Authorization": f"Bearer {KEY}"}) as client:
        for _ in range(200):
            answer = client.get(f"/v1/memory/receipts/{request_id}")
            if answer.status_code == httpx.codes.OK:
                receipt: dict[str, Any] = answer.json()
                return receipt
            time.sleep(0.05)
    raise RuntimeError("the turn was not learned")


def say(who: str, what: str, style: str) -> None:
    """One line of talk."""
    out.print(f"[{style}]{who}:[/] {what.strip()}")


if __name__ == "__main__":
    main()
