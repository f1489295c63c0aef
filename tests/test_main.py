from __future__ import annotations

from typing import Any

import pytest

from app.errors import ConfigurationError
from app.filters import Remembering, inbound, outbound, remembering
from app.main import create_app
from app.memory.rewrite import Rewriter
from app.settings import RecallSettings, RewriteSettings, Settings
from tests.conftest import MakeSettings

ANY: Any = None


def test_the_steps_come_in_their_order_and_the_vital_ones_are_vital() -> None:
    settings = Settings()
    memory = remembering(settings, Remembering(ANY, ANY, ANY, ANY, ANY, ANY, ANY))
    steps = inbound(settings, ANY, ANY, memory)
    assert [(step.name, step.vital) for step in steps] == [
        ("read", True),
        ("identity", True),
        ("policy", True),
        ("replay", False),
        ("recall", False),
        ("gate", False),
        ("recheck", False),
        ("inject", False),
        ("pin", False),
    ]
    budget = settings.recall.budget_ms / 1000
    assert [step.budget for step in memory] == [budget, budget, None, budget, None, budget]
    learned = outbound(settings, ANY, ANY, ANY)
    assert [(step.name, step.vital) for step in learned] == [
        ("extract", True),
        ("guard", True),
        ("limit", True),
        ("reconcile", True),
    ]


def test_a_rewrite_has_a_step_and_a_budget_of_its_own() -> None:
    settings = Settings(recall=RecallSettings(rewrite=RewriteSettings(model="m", timeout=2)))
    rewriter = Rewriter(settings.recall.rewrite, ANY)
    steps = remembering(settings, Remembering(ANY, ANY, ANY, ANY, ANY, ANY, ANY, rewriter))
    assert [step.name for step in steps[:3]] == ["replay", "rewrite", "recall"]
    assert [step.budget for step in steps[:3]] == [0.3, 2, 0.3]
    assert not steps[1].vital


async def test_a_second_one_on_the_same_folder_is_refused(make_settings: MakeSettings) -> None:
    async with create_app(make_settings()):
        with pytest.raises(ConfigurationError, match="in use"):
            async with create_app(make_settings()):
                pass
    async with create_app(make_settings()):
        pass
