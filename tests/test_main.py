from __future__ import annotations

from typing import Any

import pytest

from app.errors import ConfigurationError
from app.filters import Remembering, inbound, outbound, remembering
from app.main import create_app
from app.settings import Settings
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


async def test_a_second_one_on_the_same_folder_is_refused(make_settings: MakeSettings) -> None:
    async with create_app(make_settings()):
        with pytest.raises(ConfigurationError, match="in use"):
            async with create_app(make_settings()):
                pass
    async with create_app(make_settings()):
        pass
