"""Which sentences the user says for themselves: no material, no part played, no joke. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.memory.extract.segment import own_words, sentences
from app.memory.extract.wording import Said, plain

if TYPE_CHECKING:
    from app.memory.extract.language import Language


def said(text: str, language: Language) -> list[Said]:
    """The sentences of a message that can hold the user's own statements, verbatim, in order."""
    verbatim = sentences(own_words(text), lambda before: is_abbreviation(before, language))
    found = _before_material([plain(sentence) for sentence in verbatim], language)
    kept: list[Said] = []
    for sentence in found:
        if language["role_play"].search(sentence.words):
            break
        if language["joke"].search(sentence.words):
            kept = kept[:-1]
        elif not language["system"].search(sentence.words):
            reported = language["reported"].search(sentence.words)
            kept.append(sentence.cut(0, reported.start()) if reported else sentence)
    return kept


def is_abbreviation(before: str, language: Language) -> bool:
    """Whether the stop behind this text belongs to its last word ("Dr.", "e.g.", "J.")."""
    word = (before.replace("(", " ").split() or [""])[-1]
    initial = len(word) == 1 and word.isupper() and word != "I"
    return initial or word.lower() in language.words["abbreviations"]


def _before_material(found: list[Said], language: Language) -> list[Said]:
    """Drop what a sentence makes material: what follows "Translate: …", all before "Fix this."."""
    if len(found) > 1 and language["material_before"].search(found[-1].words):
        return []
    for place, sentence in enumerate(found):
        if language["material_follows"].search(sentence.words):
            return found[:place]
    return found
