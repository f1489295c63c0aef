"""What a statement is a value of: the table of slots. Pure.

A slot that holds one value is replaced by a new one (M35); one that holds many only grows (M36).
`*` stands for one part of a name: `pet.*.name` covers `pet.dog.name`.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final


@dataclass(frozen=True, slots=True)
class Slot:
    """One row of the table: how it is called, whether it holds one value, what it means."""

    name: str
    single: bool
    meaning: str


SLOTS: Final = (
    # who
    Slot("name", single=True, meaning="the user's name"),
    Slot("preferred_name", single=True, meaning="how the user wants to be called"),
    Slot("pronouns", single=True, meaning="the user's pronouns"),
    Slot("age", single=True, meaning="the user's age in years"),
    Slot("birthday", single=True, meaning="the day the user was born"),
    Slot("birthplace", single=True, meaning="where the user was born"),
    Slot("nationality", single=False, meaning="a citizenship or nationality"),
    Slot("marital_status", single=True, meaning="married, single, engaged …"),
    # where
    Slot("home_city", single=True, meaning="the town the user lives in now"),
    Slot("home_country", single=True, meaning="the country the user lives in now"),
    Slot("hometown", single=True, meaning="where the user comes from"),
    Slot("timezone", single=True, meaning="the user's time zone"),
    # work and study
    Slot("employer", single=True, meaning="who the user works for"),
    Slot("job", single=True, meaning="the user's occupation or role"),
    Slot("studies", single=True, meaning="what the user studies"),
    Slot("school", single=True, meaning="where the user studies"),
    Slot("language", single=False, meaning="a language the user speaks"),
    Slot("learning", single=False, meaning="something the user is learning"),
    # body
    Slot("diet", single=True, meaning="vegan, vegetarian, halal …"),
    Slot("allergy", single=False, meaning="an allergy or intolerance, the user's or a close one's"),
    Slot("food_avoided", single=False, meaning="something the user does not eat or drink"),
    Slot("health", single=False, meaning="a lasting condition"),
    # people, pets, things, tastes
    Slot("person.*.name", single=True, meaning="how somebody is called of whom there is one"),
    Slot("person.*.home_city", single=True, meaning="where that person lives"),
    Slot("person.*.employer", single=True, meaning="who that person works for"),
    Slot("person.*.age", single=True, meaning="how old that person is"),
    Slot("child.count", single=True, meaning="how many children the user has"),
    Slot("partner.name", single=True, meaning="how the user's partner is called"),
    Slot("child.name", single=False, meaning="how a child of the user is called"),
    Slot("pet.*", single=False, meaning="a pet of that species"),
    Slot("pet.*.name", single=False, meaning="how a pet of that species is called"),
    Slot("likes.*", single=True, meaning="what the user thinks of that thing"),
    Slot("favorite.*", single=True, meaning="the user's favourite of that kind"),
    Slot("owns.*", single=True, meaning="whether the user has that thing"),
    # tools of one's own
    Slot("editor", single=True, meaning="the editor the user writes code in"),
    Slot("os", single=True, meaning="the operating system of the user's computer"),
    Slot("shell", single=True, meaning="the user's shell"),
    Slot("programming_language", single=False, meaning="a language the user programs in"),
    Slot(
        "own.*",
        single=True,
        meaning="phone, laptop, car … by make or model; rent, weight, dentist …",
    ),
    Slot("schedule.*", single=True, meaning="stand-up, deadline, shift, training … by time"),
    # how to answer and how to work
    Slot("preferred_language", single=True, meaning="the language to answer in"),
    Slot("answer_style.*", single=True, meaning="length, format, tone, emoji, units of answers"),
    Slot("code_style.*", single=True, meaning="indentation, comments, types … of code"),
    # the project
    Slot("project.language", single=False, meaning="a language the project is written in"),
    Slot("project.*", single=True, meaning="package_manager, database, deploy, ci, framework …"),
)

# What can only be said of the user themselves; somebody else's town is not theirs.
OWN: Final = frozenset(
    {"name", "preferred_name", "pronouns", "age", "birthday", "birthplace", "nationality"}
    | {"marital_status", "home_city", "home_country", "hometown", "timezone", "employer", "job"}
    | {"studies", "school", "language", "learning", "diet", "food_avoided", "health"}
    | {"editor", "os", "shell", "programming_language"}
)
MAX_KEY_CHARS: Final = 40


def is_known(slot: str) -> bool:
    """Whether the table has a row for it."""
    return _row(slot) is not None


def is_single(slot: str) -> bool:
    """Whether a new value replaces the old one. An unknown slot only grows: nothing is lost."""
    found = _row(slot)
    return found is not None and found.single


@lru_cache(maxsize=1024)
def _row(slot: str) -> Slot | None:
    parts = slot.split(".")
    return next((row for row in SLOTS if _covers(row.name.split("."), parts)), None)


def matches(name: str, slot: str) -> str | None:
    """What the `*` of a row's name stands for in a slot ("" if it has none); None: another slot.

    >>> matches("pet.*.name", "pet.dog.name")
    'dog'
    """
    pattern, parts = name.split("."), slot.split(".")
    if not _covers(pattern, parts):
        return None
    return next((part for want, part in zip(pattern, parts, strict=True) if want == "*"), "")


def _covers(pattern: list[str], parts: list[str]) -> bool:
    return len(pattern) == len(parts) and all(
        want in {"*", part} and part for want, part in zip(pattern, parts, strict=True)
    )


def slot_key(text: str) -> str:
    """Text as one part of a slot's name: `Thai food` → `thai_food`; may be empty."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = re.findall(r"\w+", _ARTICLE.sub("", folded.strip()))
    return "_".join(words)[:MAX_KEY_CHARS].strip("_")


_ARTICLE: Final = re.compile(r"^(?:an?|the|my|our|some|any|this|that)\s+", re.IGNORECASE)

# Other names of the same value, by slot ("" for every slot); folded.
_ALIASES: Final[dict[str, dict[str, str]]] = {
    "home_city": {
        "nyc": "new york city",
        "new york": "new york city",
        "sf": "san francisco",
        "la": "los angeles",
        "münchen": "munich",
        "lisboa": "lisbon",
        "köln": "cologne",
        "wien": "vienna",
    },
    "home_country": {
        "us": "united states",
        "usa": "united states",
        "u s": "united states",
        "u s a": "united states",
        "america": "united states",
        "uk": "united kingdom",
        "u k": "united kingdom",
        "holland": "netherlands",
    },
    "editor": {"vscode": "vs code", "visual studio code": "vs code", "nvim": "neovim"},
    "os": {"mac": "macos", "osx": "macos", "os x": "macos", "mac os": "macos"},
    "programming_language": {
        "js": "javascript",
        "ts": "typescript",
        "golang": "go",
        "py": "python",
    },
    "project.language": {"js": "javascript", "ts": "typescript", "golang": "go", "py": "python"},
    "project.database": {"postgres": "postgresql", "mongo": "mongodb"},
}
_EDGE: Final = re.compile(r"[\W_]+")


def normal_value(slot: str, value: str) -> str:
    """A value folded for comparing: case, article, punctuation and other names of the same thing.

    >>> normal_value("home_city", "NYC.") == normal_value("home_city", "the New York City")
    True
    """
    folded = unicodedata.normalize("NFKC", value).casefold()
    plain = _EDGE.sub(" ", _ARTICLE.sub("", folded.strip())).strip()
    return _ALIASES.get(slot, {}).get(plain, plain)
