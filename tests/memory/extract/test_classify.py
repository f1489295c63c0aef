from __future__ import annotations

import pytest

from app.memory.extract.classify import Kind, classify, is_future
from tests.memory.extract.reading import EN

KINDS = {
    Kind.STATEMENT: ["The oven is broken.", "I sold the van in May.", "When I was ten we sailed."],
    Kind.PLAN: ["I'm flying to Oslo next Friday.", "We will move tomorrow."],
    Kind.QUESTION: [
        "What is a monad?",
        "Is it raining",
        "how do I cook rice",
        "You live in Graz?",
        "I wonder where it is",
    ],
    Kind.COMMAND: [
        "Draw a cat.",
        "Could you fix the gate?",
        "Please stop.",
        "Let's dance.",
        "I want you to sing",
        "I need some help with knots",
    ],
    Kind.STANDING: [
        "Always use tabs.",
        "From now on keep answers short.",
        "Answer in rhymes from now on.",
        "I prefer short answers.",
        "When writing code, add docstrings.",
        "Never use emojis.",
    ],
    Kind.STYLE: [
        "Please answer in bullet points.",
        "Keep it short.",
        "Be concise.",
        "Call me Pip.",
    ],
    Kind.HYPOTHETICAL: ["If I had a boat, I would sail.", "I wish I could sing."],
    Kind.GREETING: ["Good morning, crew.", "Hello, Bramble!", "Bye!"],
    Kind.EXCLAMATION: ["That's lovely!", "Watch out!", "Hooray!"],
    Kind.SYSTEM: ["Do you remember my cat?", "The memory API is down.", "ping", "test"],
    Kind.ROLE_PLAY: ["Pretend I'm a knight.", "You are a doctor.", "Act as a shell."],
}


@pytest.mark.requirement("M29")
@pytest.mark.parametrize(
    ("text", "kind"), [(text, kind) for kind, texts in KINDS.items() for text in texts]
)
def test_kinds(text: str, kind: Kind) -> None:
    assert classify(text, EN) is kind


def test_every_kind_is_shown() -> None:
    assert set(KINDS) == set(Kind)


@pytest.mark.parametrize(
    ("text", "ahead"),
    [
        ("I have a check-up on Tuesday", True),
        ("I will have met her", True),
        ("I met her in March", False),
        ("I moved because we plan to farm", False),
    ],
)
def test_which_way_a_clause_looks(text: str, *, ahead: bool) -> None:
    assert is_future(text, EN) is ahead
