from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
import structlog
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from app.memory.tokens import ENCODING, by_line, estimate, token_counter


@pytest.fixture
def _fresh_counter() -> Iterator[None]:
    token_counter.cache_clear()
    yield
    token_counter.cache_clear()


@pytest.fixture
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a test went to the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.requirement("M20")
@pytest.mark.usefixtures("_fresh_counter", "_no_network")
def test_tokens_are_counted_without_a_network() -> None:
    count = token_counter()
    assert count is not estimate
    assert count("") == 0
    assert count("Hello, world!") == 4
    assert count("2026-01-05") == 6
    assert count("我住在北京") == 5
    assert count is token_counter()


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_any_text_can_be_counted(text: str) -> None:
    assert token_counter()(text) >= 0
    assert estimate(text) >= bool(text.strip())


def test_marks_of_the_model_are_plain_text() -> None:
    assert token_counter()("<|endoftext|>") > 1


@pytest.mark.usefixtures("_fresh_counter")
@pytest.mark.parametrize("error", [ValueError("unknown encoding"), OSError("cannot be fetched")])
def test_without_its_table_tokens_are_estimated_and_it_says_so(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(_: str) -> None:
        raise error

    monkeypatch.setattr(tiktoken, "get_encoding", fail)
    with structlog.testing.capture_logs() as logs:
        assert token_counter() is estimate
    assert [log["event"] for log in logs] == ["tokens_are_estimated"]


@pytest.mark.parametrize(
    "text",
    [
        "The user's dog is called Rex, and he lives in Lisbon.",
        "User prefers short answers (2-3 sentences), with code in Python 3.11.",
        "我住在北京，喜欢喝茶。",
        "私は東京に住んでいます。",
        "저는 서울에 살고 있어요.",
        "Я живу в Москве и люблю чай.",
        "ฉันอาศัยอยู่ในกรุงเทพ",
        "Sharks 🦈 are great!",
        "x" * 400,
    ],
)
def test_an_estimate_is_near(text: str) -> None:
    counted = token_counter()(text)
    assert counted * 0.6 <= estimate(text) <= counted * 2.5


LINES = st.lists(st.text(st.characters(exclude_categories=["Cc", "Zl", "Zp", "Cs"])))


@given(LINES)
def test_lines_counted_one_by_one_are_no_fewer_tokens(lines: list[str]) -> None:
    encode = tiktoken.get_encoding(ENCODING).encode_ordinary
    text = "\n".join(lines)
    whole = len(encode(text))
    assert whole <= token_counter()(text)
    if all(line[:1].isalnum() and line[-1:].isalnum() for line in lines):
        assert whole == token_counter()(text)


def test_a_line_that_comes_again_is_not_counted_again() -> None:
    seen: list[str] = []

    def one(line: str) -> int:
        seen.append(line)
        return 1

    count = by_line(one)
    assert (count("a\nb\n"), count("b\na\nc")) == (2, 3)
    assert seen == ["a\n", "b\n", "c"]
