from __future__ import annotations

import pytest

from app.memory.rows import to_row
from app.memory.stores import reading
from app.memory.stores.reading import Reader
from tests.build import a_memory

MEMORY = a_memory("The user likes tea.")
ROW = to_row(MEMORY) | {"rev": "1"}


def read(reader: Reader, *rows: dict[str, object]) -> list[object]:
    return list(reader.memories(rows))


def test_a_version_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Reader()
    (first,) = read(reader, ROW)
    monkeypatch.setattr(reading, "from_row", lambda _: pytest.fail("read again"))
    assert read(reader, dict(ROW)) == [first] == [MEMORY]


@pytest.mark.parametrize("change", [{"rev": "2"}, {"use_count": 1}])
def test_another_version_is_read_anew(change: dict[str, object]) -> None:
    reader = Reader()
    read(reader, ROW)
    (memory,) = read(reader, ROW | change | {"content": "The user likes jazz."})
    assert memory.fact.content == "The user likes jazz."  # type: ignore[attr-defined]


def test_a_row_without_a_version_is_never_kept() -> None:
    reader = Reader()
    bare = {key: value for key, value in ROW.items() if key != "rev"}
    read(reader, bare)
    (memory,) = read(reader, bare | {"content": "The user likes jazz."})
    assert memory.fact.content == "The user likes jazz."  # type: ignore[attr-defined]


@pytest.mark.requirement("M40")
def test_what_is_dropped_is_not_kept_anywhere() -> None:
    reader = Reader()
    read(reader, ROW)
    assert reader.known([MEMORY.id]) == {MEMORY.id: MEMORY}
    reader.drop([MEMORY.id])
    assert reader.known([MEMORY.id]) == {}
    assert "tea" not in repr(vars(reader))
    assert not reader._read


def test_no_more_than_so_many_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "KEPT", 3)
    reader = Reader()
    read(reader, *(to_row(a_memory(str(n))) | {"rev": "1"} for n in range(9)))
    assert len(reader._read) == 3


def test_a_damaged_row_costs_nobody_the_rest() -> None:
    assert read(Reader(), {"id": "mem_x"}, ROW) == [MEMORY]
