"""Who "she" is: the last person of the user's that the message named. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.memory.extract.clauses import Clause
    from app.memory.extract.language import Language


def named(text: str, language: Language) -> str | None:
    """The person that a clause names, as the user does: "my sister Maria"."""
    found = language["person"].search(text)
    return found["person"] if found else None


def resolved(clause: Clause, person: str | None, language: Language) -> Clause:
    """The clause with "she" or "he" at its start replaced by who that is."""
    found = language["he_she"].match(clause.text)
    if person is None or found is None:
        return clause
    being = language.grammar.names.get("is", "") if found["being"] else ""
    return replace(clause, text=f"{person}{being}{clause.text[found.end() :]}", leans=False)
