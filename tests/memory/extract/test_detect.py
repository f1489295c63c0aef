from __future__ import annotations

import pytest

from app.memory.extract.detect import SHIPPED, Languages, detect, signs

SIGNS = [signs(code) for code in SHIPPED]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("I live in Lisbon and my dog is called Rex.", "en"),
        ("Ich wohne in Kassel und habe einen Hund.", "de"),
        ("bin übrigens linkshänderin", "de"),
        ("Vivo en Sevilla y mi perra se llama Canela.", "es"),
        ("¿Cómo se hace?", "es"),
        ("J'habite à Rennes depuis 2019.", "fr"),
        ("Moro em Recife e não como carne.", "pt"),
        ("我对花生过敏。", "zh"),
        ("福岡に住んでいます。", "ja"),
        ("Wi-Fiのパスワードを忘れました", "ja"),
        ("我用 VS Code 写 Python。", "zh"),
        ("How do you say 你好 in English, and what does it mean there?", "en"),
        ("My favourite film is El laberinto del fauno.", "en"),
        ("ok", "en"),
        ("", "en"),
        ("https://example.com/a?b=c", "en"),
    ],
)
def test_a_message_is_in_one_language(text: str, code: str) -> None:
    assert detect(text, SIGNS) == code


def test_a_language_that_does_not_ship_is_read_as_english() -> None:
    assert Languages(("en",)).of("我对花生过敏。").code == "en"


def test_every_language_is_told_by_words_or_by_its_script() -> None:
    assert {row.code for row in SIGNS if not row.words} == {"zh", "ja"}
    assert Languages().of("我对花生过敏。").code == "zh"
