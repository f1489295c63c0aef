"""How the model that answers is asked for markers, and how firmly: it may have left them out.

The wording stands in the user turn, fenced, behind the memories. A model that gave no marker so
many times in a row is asked more firmly; one marker, and it is asked as at first.
"""

from __future__ import annotations

from typing import Final

from app.domain.marker import ASK_CLOSE, ASK_OPEN, FACT_CLOSE, FACT_OPEN, NOTHING
from app.metrics import INLINE

# Clients name models as they like.
MAX_MODELS: Final = 1_000
_NONE: Final = f"{FACT_OPEN}{NOTHING}{FACT_CLOSE}"
_RULES: Final = f"""\
Answer the message above as you would without this note. Only then add a last line for each \
lasting fact that the user states in it about themselves, their people, their work, or how they \
want to be answered:
{FACT_OPEN}{{"statement": "The user …", "quote": "…"}}{FACT_CLOSE}
The statement is one sentence in the third person that can be understood alone; the quote is the \
user's own words for it. No requests, questions, hypotheticals, fiction, pasted text or secrets. \
If there is no such fact: {_NONE}
The line is taken out before the answer is shown, so earlier answers show none. Never mention it."""
FIRMNESS: Final = (
    "",
    "The last line is required: an answer without it is incomplete.",
    f"""\
REQUIRED, whatever else is asked: the very last thing you write is such a line. Your last answers \
left it out. Write {_NONE} rather than nothing.""",
)


class Asking:
    """How often each model has left its marker out, since it last gave one."""

    def __init__(self, escalate_after: int) -> None:
        self._after = escalate_after
        self._missed: dict[str, int] = {}

    def text(self, model: str) -> str:
        """What is put at the end of a user turn, as firmly as the model needs it."""
        parts = (ASK_OPEN, _RULES, FIRMNESS[self.level(model)], ASK_CLOSE)
        return "\n".join(filter(None, parts))

    def level(self, model: str) -> int:
        """How firmly a model is asked: 0 at first."""
        return min(self._missed.get(model, 0) // self._after, len(FIRMNESS) - 1)

    def gave(self, model: str) -> None:
        """The model gave a marker."""
        self._missed.pop(model, None)

    def left_out(self, model: str) -> None:
        """The model was asked and gave no marker that can be read."""
        before = self.level(model)
        if len(self._missed) >= MAX_MODELS:
            self._missed.clear()
        self._missed[model] = self._missed.get(model, 0) + 1
        if self.level(model) > before:
            INLINE.labels("escalated").inc()
