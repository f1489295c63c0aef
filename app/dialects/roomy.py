"""Whether a chat answer may hold a line more than it was asked for. Pure.

Not where that line would break what the client was promised: a schema, a stop sequence, several
answers to choose from, a narrow limit, a forced tool, speech, or the tokens one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.dialects.located import Number

if TYPE_CHECKING:
    from collections.abc import Mapping

# A few facts take about half of that.
MIN_TOKENS: Final = 256
MAX_DIGITS: Final = 9
LIMITS: Final = frozenset({"max_tokens", "max_completion_tokens"})
# How servers like OpenAI's constrain an answer, or make something else of it.
_GRAMMARS: Final = frozenset(
    {"audio", "format", "grammar", "json_schema", "structured_outputs", "regex", "ebnf"}
    | {"guided_json", "guided_regex", "guided_choice", "guided_grammar"}
)
# The values that restrict nothing.
_FREE: Final[dict[str, tuple[Any, ...]]] = {
    "response_format": (None, {"type": "text"}),
    "tool_choice": (None, "auto", "none"),
    "function_call": (None, "auto", "none"),
    "modalities": (None, ["text"]),
    "n": (None, Number("1")),
    "stop": (None, "", []),
    "logprobs": (None, False),
    **dict.fromkeys(_GRAMMARS, (None,)),
}
_NAMES: Final = LIMITS | _FREE.keys()


def is_roomy(request: Mapping[str, Any]) -> bool:
    """Whether nothing in the request speaks against it."""
    return all(_leaves_room(name, request[name]) for name in _NAMES & request.keys())


def _leaves_room(name: str, value: object) -> bool:
    if name not in LIMITS or value is None:
        return value in _FREE.get(name, (None,))
    digits = value.text if isinstance(value, Number) else ""
    return digits.isdecimal() and (len(digits) > MAX_DIGITS or int(digits) >= MIN_TOKENS)
