from __future__ import annotations

import unicodedata
from datetime import UTC, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain import MAX_CONTENT_BYTES, clean_text, utc_now

anything = st.text(alphabet=st.characters(exclude_categories=()))  # with lone surrogates


@pytest.mark.requirement("M3")
@given(anything, st.integers(0, 40))
def test_the_result_is_sound_nfc_trimmed_and_short(text: str, limit: int) -> None:
    clean = clean_text(text, limit)
    assert len(clean.encode()) <= limit
    assert clean == clean.strip()
    assert unicodedata.is_normalized("NFC", clean)
    assert "\x00" not in clean
    assert clean_text(clean, limit) == clean


@pytest.mark.requirement("M3")
@given(anything)
def test_what_fits_is_only_normalised(text: str) -> None:
    sound = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    expected = unicodedata.normalize("NFC", sound.replace("\x00", "\ufffd")).strip()
    assert clean_text(text) == expected


@pytest.mark.requirement("M3")
@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("  tea \n", "tea"),
        (" \t\n\u3000", ""),
        ("e\u0301", "é"),
        ("a\x00b", "a\ufffdb"),
        ("\ud83d half a shark", "\ufffd half a shark"),
        ("\ud83e\udd88", "🦈"),
        ("我住在北京", "我住在北京"),
    ],
)
def test_examples(text: str, clean: str) -> None:
    assert clean_text(text) == clean


@pytest.mark.requirement("M3")
def test_a_long_text_is_cut_on_a_character_boundary() -> None:
    assert clean_text("x" * 20_000) == "x" * MAX_CONTENT_BYTES
    assert clean_text("🦈" * 20_000) == "🦈" * (MAX_CONTENT_BYTES // 4)
    assert clean_text("x" + "🦈" * 20_000) == "x" + "🦈" * (MAX_CONTENT_BYTES // 4 - 1)
    assert clean_text("one two", 4) == "one"
    assert clean_text("é", 1) == ""


def test_the_time_is_aware_and_in_utc() -> None:
    assert utc_now().tzinfo is UTC
    assert utc_now() - utc_now() < timedelta(seconds=1)
