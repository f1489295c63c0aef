"""One language as data: `languages/<code>.toml`, read once and compiled.

A pattern or table that a language leaves out never matches, so a new language can start small.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from app.domain import Fact, MemoryType, Pool

if TYPE_CHECKING:
    from collections.abc import Iterator

Table = dict[str, Any]

_MACRO: Final = re.compile(r"@(\w+)@")
_GROUP_NAME: Final = re.compile(r"\?P<\w+>")
NEVER: Final = re.compile(r"(?!)")
# With its points, colons and hyphens; or in words, of which the first ("a", "un") is an article.
NUMBER: Final = r"(?<![\w.,:-])(?:\d{1,3}(?: \d{3})+|\d+(?:[.,:/-]\d+)*|@counted@)(?!\w)"


@dataclass(frozen=True, slots=True)
class Rule:
    """What a clause is a value of: where it matches, what it says, and as which kind of fact."""

    name: str
    match: re.Pattern[str]
    says: str
    slot: str | None
    fact: Fact
    pool: Pool = Pool.USER
    unless: re.Pattern[str] = NEVER
    partial: bool = False
    timeless: bool = False


@dataclass(frozen=True, slots=True)
class TakeBack:
    """A way to say that something is over (`kept`) or was never so; its group `topic` names it."""

    match: re.Pattern[str]
    kept: bool = True
    needs: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Form:
    """One way to name a day: its groups, and by how much or to which side it moves."""

    match: re.Pattern[str]
    unit: str | None = None
    shift: int | None = None
    sign: int = 0
    future: bool = False


@dataclass(frozen=True, slots=True)
class DateWords:
    """How a language names days, and how a resolved one is written."""

    forms: tuple[Form, ...]
    numbers: Mapping[str, int]
    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    seasons: Mapping[str, int]
    units: Mapping[str, re.Pattern[str]]
    written: Mapping[str, str]
    month_names: tuple[str, ...]
    context: Mapping[str, re.Pattern[str]]


@dataclass(frozen=True, slots=True)
class Grammar:
    """From the first person to the third: who is meant, and how verbs and pronouns change."""

    names: Mapping[str, str]
    speaker: re.Pattern[str]
    pronouns: Mapping[str, str]
    auxiliaries: Mapping[str, str]
    plural: Mapping[str, str]
    assistant: Mapping[str, str]
    spelled: Mapping[str, str]
    rewrites: Mapping[str, tuple[tuple[re.Pattern[str], str], ...]]
    unchanged: frozenset[str]
    takes_back: tuple[TakeBack, ...] = ()


@dataclass(frozen=True, slots=True)
class Language:
    """Everything the heuristic extractor knows of one language."""

    code: str
    patterns: Mapping[str, re.Pattern[str]] = field(repr=False)
    grammar: Grammar = field(repr=False)
    dates: DateWords = field(repr=False)
    rules: tuple[Rule, ...] = field(repr=False)
    standing: tuple[Rule, ...] = field(repr=False)
    same: Mapping[str, str] = field(repr=False)
    words: Mapping[str, frozenset[str]] = field(repr=False)
    spaced: bool = True

    def __getitem__(self, name: str) -> re.Pattern[str]:
        """The pattern of that name; one that never matches if the language has none."""
        return self.patterns.get(name, NEVER)


@cache
def load(code: str) -> Language:
    """The language of that code; raises `FileNotFoundError` for one that does not ship."""
    return build(table(code))


@cache
def table(code: str) -> Table:
    """Its file, and what all languages share, before any regex is made of it."""
    own, common = _file(f"languages/{code}.toml"), _file("common.toml")
    parts = {name: {**common[name], **own.get(name, {})} for name in ("words", "macros")}
    return {**common, **own, **parts}


def _file(name: str) -> Table:
    return tomllib.loads(files("app.memory.extract").joinpath(name).read_text("utf-8"))


def build(data: Table) -> Language:
    """A language from its table."""
    macros = _Macros(data)
    words = data.get("words", {})
    return Language(
        code=data["code"],
        patterns={
            "dated": macros.compiled("@dated@"),
            "number": macros.compiled(NUMBER),
            **{name: macros.compiled(rows) for name, rows in data.get("patterns", {}).items()},
        },
        grammar=_grammar(data.get("grammar", {}), words, macros),
        dates=_dates(data.get("dates", {}), macros),
        rules=tuple(_rules(data, "rules", macros)),
        standing=tuple(_rules(data, "standing", macros)),
        same=data.get("same", {}),
        words={
            "abbreviations": frozenset(words.get("abbreviations", ())),
            # they tell nothing of what a statement is about
            "empty": frozenset((*words.get("empty", ()), *data.get("detect", {}).get("words", ()))),
        },
        spaced=data.get("spaced", True),
    )


class _Macros:
    """Puts the named pieces of [macros], [words] and [dates] into regexes."""

    def __init__(self, data: Table) -> None:
        self.code: str = data["code"]
        self.spaced: bool = data.get("spaced", True)
        words = {name: _any_of(rows) for name, rows in data.get("words", {}).items()}
        dates = data.get("dates", {})
        named = {name: _any_of(dates.get(name, ())) for name in ("weekdays", "seasons")}
        named["counted"] = _any_of(list(dates.get("numbers", ()))[1:])
        named["count"] = _any_of([r"\d+", *dates.get("numbers", ())])
        named["months_any"] = _any_of(dates.get("months", ()))
        named["units"] = _any_of(list(dates.get("units", {}).values()))
        self._table: dict[str, str] = {**words, **named, **data.get("macros", {})}
        forms = [_GROUP_NAME.sub("?:", self.expanded(f["match"])) for f in dates.get("forms", ())]
        self._table["dated"] = _any_of(forms)

    def expanded(self, text: str, extra: Mapping[str, str] | None = None) -> str:
        """The text with every macro replaced, however deep they nest."""
        table = {**self._table, **(extra or {})}
        while _MACRO.search(text):
            text = _MACRO.sub(lambda found: table[found[1]], text)
        return text

    def compiled(
        self, rows: str | list[str], extra: Mapping[str, str] | None = None
    ) -> re.Pattern[str]:
        """One regex for one row or for several alternatives, without regard to case."""
        text = rows if isinstance(rows, str) else _any_of(rows)
        return re.compile(self.expanded(text, extra), re.IGNORECASE)


def _any_of(rows: Any) -> str:  # noqa: ANN401 a list of words or the keys of a table
    return "(?:" + "|".join(rows) + ")" if rows else "(?!)"


def _rules(data: Table, section: str, macros: _Macros) -> Iterator[Rule]:
    for row in data.get(section, ()):
        for tool in data[row["each"]] if "each" in row else [{}]:
            yield _rule(row, tool, section, macros)


def _rule(row: Table, tool: Table, section: str, macros: _Macros) -> Rule:
    extra = {"tool": f"(?:{tool.get('tool', '')})", "noun": f"(?:{tool.get('noun', '')})"}
    standing = section == "standing"
    slot = row.get("slot")
    return Rule(
        name=row["name"],
        match=macros.compiled(row["match"], extra),
        says=row["says"],
        slot=tool.get("slot") if slot == "{slot}" else slot,
        fact=Fact(
            content="",
            type=MemoryType.PROCEDURAL if standing else MemoryType.SEMANTIC,
            importance=row.get("importance", 0.7 if standing else 0.5),
            confidence=row.get("confidence", 0.9),
            pinned=row.get("pinned", False),
            lang=macros.code,
        ),
        pool=Pool(row.get("pool", Pool.USER)),
        unless=macros.compiled(row["unless"]) if "unless" in row else NEVER,
        partial=row.get("partial", False),
        timeless=row.get("timeless", False),
    )


def _dates(data: Table, macros: _Macros) -> DateWords:
    names = ("prepositions", "not_before", "not_after")
    return DateWords(
        forms=tuple(_form(row, macros) for row in data.get("forms", ())),
        numbers=_numbered(data.get("numbers", ())),
        months=_numbered(data.get("months", ())),
        weekdays=_numbered(data.get("weekdays", ()), first=0),
        seasons=data.get("seasons", {}),
        units={name: macros.compiled(rx) for name, rx in data.get("units", {}).items()},
        written=data.get("written", {}),
        month_names=tuple(data.get("month_names", ())),
        context={name: macros.compiled(data[name]) for name in names if name in data},
    )


def _form(row: Table, macros: _Macros) -> Form:
    spaced = rf"(?<!\w)(?:{row['match']})(?!\w)"
    match = macros.compiled(spaced if macros.spaced else row["match"])
    rest = {key: row[key] for key in ("unit", "shift", "sign", "future") if key in row}
    return Form(match, **rest)


def _numbered(rows: Any, first: int = 1) -> dict[str, int]:  # noqa: ANN401 a list of alternatives
    return {word: n for n, row in enumerate(rows, first) for word in row.split("|")}


def _grammar(data: Table, words: Table, macros: _Macros) -> Grammar:
    unchanged = [*words.get("pasts", ()), *words.get("modals", ())]
    return Grammar(
        names={key: value for key, value in data.items() if isinstance(value, str)},
        speaker=macros.compiled(data["speaker"]) if "speaker" in data else NEVER,
        pronouns=data.get("pronouns", {}),
        auxiliaries=data.get("auxiliaries", {}),
        plural=data.get("plural", {}),
        assistant=data.get("assistant", {}),
        spelled=data.get("spelled", {}),
        rewrites={
            name: tuple((macros.compiled(regex), to) for regex, to in data.get(name, ()))
            for name in ("wishes", "retract", "shared", "answers")
        },
        unchanged=frozenset(unchanged),
        takes_back=tuple(
            TakeBack(macros.compiled(row["match"]), row.get("kept", True), _folded(row))
            for row in data.get("takes_back", ())
        ),
    )


def _folded(row: Table) -> frozenset[str]:
    return frozenset(word.casefold() for word in row.get("needs", ()))
