from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.memory.secrets import MASK, MAX_CHARS, mask

pytestmark = pytest.mark.requirement("M32")

# (text, the part that must go, its kind)
FOUND = [
    ("my PIN is 1234", "1234", "password"),
    ("my PIN is one two three four", "one two three four", "password"),
    ("The wifi password is sunflower", "sunflower", "password"),
    ("the wifi password is: Sun!7", "Sun!7", "password"),
    ("my password hunter2", "hunter2", "password"),
    ("use hunter2x as my password", "hunter2x", "password"),
    ("I changed my password to kitten55", "kitten55", "password"),
    ("the password for my laptop is swordfish", "swordfish", "password"),
    ("my passphrase is correct horse battery staple", "horse battery staple", "password"),
    ("meine PIN ist 4321", "4321", "password"),
    ("Mein Passwort lautet geheim9", "geheim9", "password"),
    ("mi contraseña es gato123", "gato123", "password"),
    ("mon mot de passe est soleil", "soleil", "password"),
    ("minha senha é gato99", "gato99", "password"),
    ("我的密码是abc12345", "abc12345", "password"),
    ("パスワードはhimitsu1です", "himitsu1", "password"),
    ("DB_PASSWORD=s3cret99", "s3cret99", "password"),
    ("login: ana / pw: Tr0ub4dor&3", "Tr0ub4dor&3", "password"),
    ("passcode 998877 for my phone", "998877", "code"),
    ("My passport number is X1234567", "X1234567", "national_id"),
    ("the code to the alarm is 4711", "4711", "code"),
    ("our garage door code is 2580#", "2580#", "code"),
    ("your verification code is 482913", "482913", "code"),
    ("My 2FA code is 123 456", "123 456", "code"),
    ("card 4111 1111 1111 1111, 12/29", "4111 1111 1111 1111", "card"),
    ("amex 378282246310005", "378282246310005", "card"),
    ("to DE89 3704 0044 0532 0130 00", "DE89 3704 0044 0532 0130 00", "iban"),
    ("my SSN is 078-05-1120", "078-05-1120", "national_id"),
    ("my key is sk-test-FAKE0123456789abcdef", "FAKE0123456789abcdef", "api_key"),
    ("sk-ant-api03-abcDEF0123456789abcDEF", "abcDEF0123456789abcDEF", "api_key"),
    ("ghp_0123456789abcdefghijklmnopqrstuvwxyz", "0123456789abc", "api_key"),
    ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE", "api_key"),
    ("hf_abcdefghijklmnopqrstuvwxyz0123456789", "abcdefghij", "api_key"),
    ("xoxb-1234567890-abcdefghij", "1234567890", "api_key"),
    ("Bearer abcdef0123456789abcdef", "abcdef0123456789abcdef", "api_key"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcDEF", "eyJzdWIiOiIxIn0", "api_key"),
    ("the key Zk93hGsT71qLmN0pQrStUvWx24YzAbCdEf", "Zk93hGsT71qLmN0pQrStUv", "api_key"),
    ("postgres://app:s3cr3t@db.internal/prod", "s3cr3t", "url_credentials"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- ok", "MIIE",
     "private_key"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1", "b3BlbnNzaC1", "private_key"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "secret", "kind"), FOUND)
def test_a_secret_is_masked_and_named_by_kind(text: str, secret: str, kind: str) -> None:
    masked = mask(f"Hello. {text}")
    assert secret not in masked.text
    assert MASK in masked.text
    assert masked.kinds == (kind,)
    assert secret not in repr(masked)


@pytest.mark.parametrize(("text", "secret", "kind"), FOUND)
def test_masking_twice_changes_nothing(text: str, secret: str, kind: str) -> None:
    once = mask(text)
    assert mask(once.text).text == once.text
    assert secret not in once.text, kind


@pytest.mark.parametrize(
    "text",
    [
        "I forgot my password again",
        "My password is too weak",
        "the password is stored in a vault",
        "I need to reset my PIN",
        "call 555 0134 2345",
        "I live at 4711 Main Street",
        "commit 3f2504e04f8941d39a0c0305e82c3301aabbccdd",
        "order 123e4567-e89b-12d3-a456-426614174000",
        "the code is 40 lines long",
        "the key to success is practice",
        "a token is a unit of text",
        "https://example.com/a/b?c=d",
        "tests/memory/extract/test_heuristic_silence.py",
        "my area code is 212",
        "ISBN 978-3-16-148410-0",
        "my favourite number is 1234",
        "4111 1111 1111 1112",
        "",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert mask(text).text == text
    assert mask(text).kinds == ()


@given(st.text())
def test_any_text_can_be_masked(text: str) -> None:
    assert len(mask(text).text) <= MAX_CHARS * 3


@pytest.mark.parametrize(
    "piece",
    ["a", "1 ", "password is ", "my ", "://a:", "4", "sk-", "eyJ", "A1 ", "pin ", "https://", "-"],
)
def test_hostile_texts_stay_bounded(piece: str) -> None:
    assert len(mask(piece * 100_000).text) <= MAX_CHARS * 3
