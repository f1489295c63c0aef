"""A sentence that corrects itself keeps only its last word: "Boston, no wait, Cambridge". Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.memory.extract.wording import Said

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from app.memory.extract.language import Language

MAX_CORRECTIONS: Final = 5


def joined(sentences: Sequence[Said], language: Language) -> list[Said]:
    """A sentence and the one that corrects it ("No wait, Cambridge.") become one."""
    found: list[Said] = []
    for sentence in sentences:
        if found and language["correction_starts"].search(sentence.words):
            before = found.pop()
            words = f"{before.words.rstrip('.!…。！ ')}, {sentence.words}"
            found.append(Said(f"{before.raw} {sentence.raw}", words))
        else:
            found.append(sentence)
    return found


def corrected(words: str, language: Language) -> str | None:
    """The sentence as it was meant; None if nothing in it is corrected."""
    changed = False
    for _ in range(MAX_CORRECTIONS):
        mark = language["correction"].search(words)
        if mark is None:
            break
        fixed = _fixed(words[: mark.start()], words[mark.end() :], mark, language)
        if fixed is None:
            break
        words, changed = fixed, True
    return words if changed else None


def _fixed(before: str, after: str, mark: re.Match[str], language: Language) -> str | None:
    """What is left of "before, mark, after"; None if it is no correction at all."""
    if not before.strip() or not after.strip():
        return None
    if language["break_before"].match(after):
        # "I live in Boston, actually I love it" goes on; "…, no wait, I moved" takes it back
        return after if language["correction_whole"].search(mark[0]) else None
    numbers = list(language["number"].finditer(before))
    if numbers and (number := language["number"].match(after)) is not None:
        rest = before[numbers[-1].end() :]
        return before[: numbers[-1].start()] + (number[0] + rest if rest.strip() else after)
    anchor = None
    for found in language["correction_anchor"].finditer(before):
        anchor = found
    return before[: anchor.end()] + after if anchor else None
