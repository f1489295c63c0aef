"""Conversations to measure a prompt cache with: what a client sends, call by call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Message = dict[str, Any]

FACTS = (
    "The user's dog is called Rex.",
    "The user lives in Lisbon near the river.",
    "The user works at Initech as a data engineer.",
    "The user is allergic to peanuts.",
    "The user's daughter Mia plays the cello.",
    "The user rides a green bicycle to work.",
    "The user prefers short answers with an example.",
    "The project uses Go for the backend service.",
    "The project's tests run with pytest and tox.",
    "The user's favourite dish is mushroom risotto.",
    "The user trains for a marathon in Porto.",
    "The user drinks green tea in the morning.",
)
QUESTIONS = (
    "What could I cook for my dog Rex and me tonight?",
    "Where near the river in Lisbon can I train for the marathon?",
    "My daughter Mia plays the cello: what may she play at work, at Initech?",
    "Could I go there with my green bicycle, and take the dog along?",
    "Is my favourite dish, mushroom risotto, fine with my allergic reaction to peanuts?",
    "Which tea should I drink in the morning before the marathon?",
    "Which tests does the project run for the backend service in Go?",
    "Give me a short answer: where does my daughter train the cello in Lisbon?",
)
ANSWERS = (
    "Rice with vegetables is fine for both of you.",
    "The path along the water is flat and quiet.",
    "A short suite would be a good choice.",
    "Yes, there is room for both of you.",
    "It is, as long as no nuts are in it.",
    "Something light, and not too late.",
    "All of them, each time something changes.",
    "In the music school behind the market.",
)


@dataclass(frozen=True, slots=True)
class Script:
    """Its name, and the messages of each call, without memory."""

    name: str
    calls: tuple[tuple[Message, ...], ...]


def user(text: str) -> Message:
    """A user message."""
    return {"role": "user", "content": text}


def assistant(text: str) -> Message:
    """An assistant message."""
    return {"role": "assistant", "content": text}


def chat(turns: int = len(QUESTIONS)) -> list[tuple[Message, ...]]:
    """One question after the other."""
    calls: list[tuple[Message, ...]] = []
    history: list[Message] = []
    for question, answer in zip(QUESTIONS[:turns], ANSWERS, strict=False):
        history.append(user(question))
        calls.append(tuple(history))
        history.append(assistant(answer))
    return calls


def tool_loop(steps: int = 12) -> list[tuple[Message, ...]]:
    """One question, and that many calls of a tool until it is answered."""
    history: list[Message] = [user(QUESTIONS[1])]
    calls = [tuple(history)]
    for step in range(steps):
        call = {"name": "look_up", "arguments": f'{{"place": {step}}}'}
        asked = [{"id": f"call_{step}", "type": "function", "function": call}]
        history.append({"role": "assistant", "content": "", "tool_calls": asked})
        found = f"Place {step}: open until {step + 8}, quiet, dogs are welcome."
        history.append({"role": "tool", "tool_call_id": f"call_{step}", "content": found})
        calls.append(tuple(history))
    return calls


def edited() -> list[tuple[Message, ...]]:
    """Five turns; then the second is asked in other words, and it goes on from there."""
    calls = chat(5)
    history = [*calls[0], assistant(ANSWERS[0]), user(QUESTIONS[4]), assistant(ANSWERS[4])]
    calls.append(tuple(history[:3]))
    for question, answer in zip(QUESTIONS[5:7], ANSWERS[5:7], strict=True):
        calls.append((*history, user(question)))
        history += [user(question), assistant(answer)]
    return calls


SCRIPTS = (
    Script("eight turns", tuple(chat())),
    Script("tool loop, twelve steps", tuple(tool_loop())),
    Script("edit in the middle", tuple(edited())),
    Script("two replicas taking turns", tuple(chat())),
)
