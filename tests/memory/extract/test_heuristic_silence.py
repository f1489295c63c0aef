"""What teaches nothing (M29), and the faults of the field that say so."""

from __future__ import annotations

import pytest

from tests.memory.extract.reading import learned, slots

pytestmark = pytest.mark.requirement("M29")

SILENT = {
    "questions": [
        "Is my cat too fat?",
        "where should I plant my roses",
        "How do I tell my aunt that I'm leaving?",
        "You know I'm from Graz?",
    ],
    "requests": [
        "Write me a poem.",
        "Could you check my recipe?",
        "I need help with my taxes.",
        "I want you to act as a shell.",
        "Help me find a gift for my uncle.",
        "Write a bio that says I'm a judge and I live in Graz.",
    ],
    "hypotheticals": [
        "If I lived in Graz I would ski.",
        "Let's say I earn 90k and live in Linz.",
        "Suppose my rent is 900.",
        "I wish I had a boat.",
        "I'd move to Graz in a heartbeat.",
    ],
    "parts that are played": [
        "Pretend I'm a pirate. I have one leg.",
        "Imagine I am a farmer. My farm is huge.",
        "You are a doctor. I'm your patient.",
        "In this story I'm a wizard and my name is Odo.",
    ],
    "jokes": ["I own ten castles. Just kidding!", "I eat bricks. jk"],
    "other people's words": [
        'My aunt said "I hate my job and I want to leave".',
        "> I live in Graz\nis this true?",
        "My landlord wrote: I am the owner.",
        "Translate 'my name is Odo' into Thai.",
    ],
    "pasted text": [
        "Summarize this text: My name is Odo. I work at Initech.",
        "Here's the mail:\nHi, I'm Odo and I live in Graz.\nBest",
        "I has a cat and I lives in Graz. Correct this.",
        "<document>I am the king of Graz.</document> thoughts?",
    ],
    "the moment and the assistant": [
        "I'm having trouble with my printer.",
        "I'm your creator.",
        "I'm 10 minutes late.",
        "I'm currently in a meeting.",
        "I love this answer!",
    ],
    "code and logs": [
        "Jan 12 10:00:00 host app: My name is Error",
        "```\nname = 'Odo'  # I live in Graz\n```",
        "2026-01-02 09:00:00 INFO I am up\nTraceback (most recent call last):",
        "user: I live in Graz\nassistant: Nice!",
    ],
    "the memory itself": [
        "Do you remember my cat?",
        "My memory API returns 500.",
        "This is a test message, my name is Test.",
        "ping",
        "Is this thing on?",
    ],
    "small talk and moments": [
        "Hello!",
        "ok thanks, that works",
        "I think you're right.",
        "I'm tired.",
        "I'm back!",
        "I'm getting an error.",
        "I'm looking for a hotel.",
        "I have a list of numbers.",
        "I love it!",
    ],
    "the world": ["The sea is blue.", "Rust is a compiled language."],
}


@pytest.mark.parametrize(("text"), [text for texts in SILENT.values() for text in texts])
def test_teaches_nothing(text: str) -> None:
    assert [item.fact.content for item in learned(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "<memory>\n- The user likes jazz.\n</memory>",
        "What should I play?\n\n<memory>\nNotes\n2026-01-01\n- I like jazz.\n</memory>",
        "<memory>I like jazz and I live in Graz.",
    ],
)
def test_fault_1_recalled_text_is_not_learned_again(text: str) -> None:
    assert learned(text) == ()


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("I prefer dark mode. I really prefer dark mode.", "The user really prefers dark mode."),
        ("I live in Graz. I'm based in Graz. Graz is my home.", "The user lives in Graz."),
        ("I sing in a choir. I sing in a choir!", "The user sings in a choir."),
    ],
)
def test_fault_9_one_fact_in_several_wordings_is_one_row(text: str, content: str) -> None:
    assert list(slots(text)) == [content]


@pytest.mark.parametrize(
    "text",
    [
        "My neighbour Per loves drums.",
        "My daughter's teacher is a vegan.",
        "My brother hates cats.",
    ],
)
def test_what_others_like_is_about_them(text: str) -> None:
    ((content, slot),) = slots(text).items()
    assert content.startswith("The user's ")
    assert slot is None
