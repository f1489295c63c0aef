from __future__ import annotations

import structlog

from app.memory.stores.moving import warn_of


def test_the_warning_names_the_command_and_is_only_given_where_there_is_something() -> None:
    with structlog.testing.capture_logs() as logs:
        warn_of([], "memory-new")
        warn_of(["memory-old"], "memory-new")
    (warning,) = logs
    assert (warning["event"], warning["log_level"]) == ("memories_of_another_model", "warning")
    assert (warning["not_used"], warning["used"]) == (["memory-old"], "memory-new")
    assert "remora reindex" in warning["hint"]
