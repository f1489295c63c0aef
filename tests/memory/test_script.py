from __future__ import annotations

import pytest

from app.memory.script import CJK


@pytest.mark.parametrize("letter", ["我", "か", "カ", "ー"])
def test_chinese_and_japanese_are_found(letter: str) -> None:
    assert CJK.search(f"a {letter} b")


@pytest.mark.parametrize("letter", ["a", "ß", "я", "한", "1", "。"])
def test_nothing_else_is(letter: str) -> None:
    assert CJK.search(letter) is None
