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
    if language["no_correction"].match(after):
        return None
    if language["break_before"].match(after):
        # "I live in Boston, actually I love it" goes on; "…, no wait, I moved" takes it back
        return after if language["correction_whole"].search(mark[0]) else None
    numbers = list(language["number"].finditer(before))
    if numbers and (number := language["number"].match(after)) is not None:
        return _recounted(before, after, numbers, number)
    anchor = None
    for found in language["correction_anchor"].finditer(before):
        anchor = found
    if anchor is None:
        return None
    kept = before[: anchor.end()]
    # "I live in Boston, actually in the North End"
    word, _, rest = after.partition(" ")
    again = rest and word.casefold() == kept.split()[-1].casefold()
    return kept + (rest if again else after)


def _recounted(
    before: str, after: str, numbers: Sequence[re.Match[str]], number: re.Match[str]
) -> str | None:
    """Another number in the place of the last; None where it is not plain which one is meant."""
    last = numbers[-1]
    rest = before[last.end() :]
    bare = not after[number.end() :].strip(" .!…").split(",")[0].strip()
    if bare and rest.strip():  # "two brothers, no, three"
        return before[: last.start()] + number[0] + rest
    return before[: last.start()] + after if len(numbers) == 1 else None
