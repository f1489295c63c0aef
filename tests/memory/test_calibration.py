from __future__ import annotations

from pathlib import Path

import pytest

from app.domain import Fact
from app.errors import ConfigurationError
from app.memory.calibration import (
    FEWEST,
    FILE,
    HIGHEST,
    LOWEST,
    QUESTIONS,
    Calibration,
    everyday_prompts,
    fitted,
    keep,
    kept,
    question,
)
from app.memory.slots import is_known


@pytest.mark.requirement("M16")
def test_the_floor_keeps_95_of_100_true_questions() -> None:
    true = [0.40 + step / 200 for step in range(100)]
    found = fitted(true, [0.2, 0.3, 0.42, 0.9])
    assert found.floor == pytest.approx(0.42, abs=0.01)
    assert found.true >= 0.95
    assert (found.false, found.questions) == (0.5, 100)


@pytest.mark.parametrize("count", [20, 22, 39, 61])
def test_of_few_questions_it_keeps_no_fewer(count: int) -> None:
    assert fitted([0.3 + step / 300 for step in range(count)], []).true >= 0.95


@pytest.mark.parametrize(("cosine", "floor"), [(0.0, LOWEST), (0.99, HIGHEST)])
def test_it_stays_where_floors_make_sense(cosine: float, floor: float) -> None:
    assert fitted([cosine] * FEWEST, []).floor == pytest.approx(floor, abs=0.01)


def test_too_few_facts_fit_nothing() -> None:
    with pytest.raises(ConfigurationError, match=f"{FEWEST - 1} facts say how"):
        fitted([0.5] * (FEWEST - 1), [])


@pytest.mark.parametrize(
    ("slot", "lang", "asked"),
    [
        ("home_city", "en", "Where do I live?"),
        ("pet.guinea_pig.name", None, "What is my guinea pig called?"),
        ("project.package_manager", "en", "Which package manager do we use in the project?"),
        ("home_city", "de", None),
        ("answer_style.length", "en", None),
        (None, "en", None),
    ],
)
def test_a_slot_says_how_it_is_asked_for(
    slot: str | None, lang: str | None, asked: str | None
) -> None:
    assert question(Fact("A fact.", slot=slot, lang=lang)) == asked


def test_every_question_is_for_a_slot_of_the_table() -> None:
    assert [name for name in QUESTIONS if not is_known(name.replace("*", "x"))] == []
    assert len(set(everyday_prompts())) > 100


@pytest.mark.requirement("M4")
def test_a_floor_belongs_to_its_encoder(tmp_path: Path) -> None:
    assert kept(tmp_path, "a") is None
    keep(tmp_path, "a", Calibration(0.4, 1.0, 0.1, 20))
    keep(tmp_path, "b", Calibration(0.2, 1.0, 0.1, 20))
    assert (kept(tmp_path, "a"), kept(tmp_path, "b"), kept(tmp_path, "c")) == (0.4, 0.2, None)


@pytest.mark.parametrize("text", ["[]", '{"a": 1}', '{"a": {"floor": "high"}}'])
def test_what_makes_no_sense_is_not_taken(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    assert kept(tmp_path, "a") is None


def test_a_broken_file_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("{")
    with pytest.raises(ConfigurationError, match="not JSON"):
        kept(tmp_path, "a")
