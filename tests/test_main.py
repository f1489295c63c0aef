from __future__ import annotations

from typing import Any

import pytest

from app.errors import ConfigurationError
from app.filters import inbound, outbound, remembering
from app.main import Front, create_app
from app.settings import Settings
from tests.conftest import MakeSettings

ANY: Any = None


def test_the_steps_come_in_their_order_and_the_vital_ones_are_vital() -> None:
    settings = Settings()
    memory = remembering(settings, ANY, ANY, ANY, ANY)
    steps = inbound(settings, ANY, ANY, memory)
    assert [(step.name, step.vital) for step in steps] == [
        ("read", True),
        ("identity", True),
        ("policy", True),
        ("recall", False),
        ("gate", False),
        ("inject", False),
    ]
    assert steps[3].budget == settings.recall.budget_ms / 1000
    learned = outbound(settings, ANY, ANY)
    assert [(step.name, step.vital) for step in learned] == [
        ("extract", True),
        ("guard", True),
        ("reconcile", True),
    ]


async def test_a_second_one_on_the_same_folder_is_refused(make_settings: MakeSettings) -> None:
    async with create_app(make_settings()):
        with pytest.raises(ConfigurationError, match="in use"):
            async with create_app(make_settings()):
                pass
    async with create_app(make_settings()):
        pass


@pytest.mark.parametrize(
    ("path", "kind", "taken_by"),
    [
        ("/v1/chat/completions", "http", "proxy"),
        ("/v1/models", "http", "proxy"),
        ("/v1/memoryless", "http", "proxy"),
        ("/v1/memory", "http", "rest"),
        ("/v1/memory/search", "http", "rest"),
        ("/healthz", "http", "rest"),
        ("/", "http", "rest"),
    ],
)
async def test_who_takes_what(path: str, kind: str, taken_by: str) -> None:
    taken: list[str] = []

    def app(name: str) -> Any:
        async def take(*_: object) -> None:
            taken.append(name)

        return take

    await Front(app("proxy"), app("rest"))({"type": kind, "path": path}, ANY, ANY)
    assert taken == [taken_by]
