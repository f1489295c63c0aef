from __future__ import annotations

import pytest
from prometheus_client import REGISTRY

from app.domain.marker import ASK_CLOSE, ASK_OPEN, asks, unmarked
from app.memory.extract.asking import FIRMNESS, MAX_MODELS, Asking
from app.memory.tokens import token_counter


def escalations() -> float:
    return REGISTRY.get_sample_value("remora_inline_total", {"outcome": "escalated"}) or 0.0


@pytest.mark.requirement("M28")
def test_a_model_that_leaves_it_out_is_asked_more_firmly_until_it_gives_one() -> None:
    asking, before = Asking(3), escalations()
    texts = []
    for _ in range(8):
        texts.append(asking.text("m"))
        asking.left_out("m")
    assert [texts.index(text) for text in texts] == [0, 0, 0, 3, 3, 3, 6, 6]
    assert escalations() == before + 2
    assert asking.text("other") == texts[0]
    asking.gave("m")
    assert asking.text("m") == texts[0]
    asking.left_out("m")
    asking.left_out("m")
    asking.gave("m")
    asking.left_out("m")
    assert asking.level("m") == 0


@pytest.mark.requirement("M28")
def test_every_wording_is_one_fenced_text_that_is_known_again() -> None:
    asking = Asking(1)
    for _ in FIRMNESS:
        text = asking.text("m")
        assert asks(text)
        assert text.startswith(f"{ASK_OPEN}\n")
        assert text.endswith(f"\n{ASK_CLOSE}")
        assert "\n\n" not in text
        assert unmarked(f"Hi. {text}") == "Hi. "
        assert token_counter()(text) < 320
        asking.left_out("m")


def test_only_so_many_models_are_remembered() -> None:
    asking = Asking(1)
    for name in range(2 * MAX_MODELS):
        asking.left_out(str(name))
    assert len(asking._missed) <= MAX_MODELS
