from __future__ import annotations

from prometheus_client import REGISTRY

from app import metrics
from app.domain import Note

FORBIDDEN = {"user", "tenant", "owner", "key", "project", "content", "conversation"}


def test_steps_are_counted_with_their_outcome() -> None:
    def count() -> float:
        labels = {"step": "test", "outcome": "late"}
        return REGISTRY.get_sample_value("remora_step_seconds_count", labels) or 0.0

    before = count()
    metrics.observe([Note("test", "late", 0.1), Note("test", "ok", 0.1)])
    assert count() == before + 1


def test_no_label_names_a_person() -> None:
    ours = [m for m in vars(metrics).values() if hasattr(m, "_labelnames")]
    assert len(ours) > 5
    for metric in ours:
        assert not FORBIDDEN & set(metric._labelnames)
