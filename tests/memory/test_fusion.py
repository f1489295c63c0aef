from __future__ import annotations

import pytest

from app.memory.fusion import fused


def test_both_kinds_of_evidence_count() -> None:
    assert fused(0.6, 5.0, 6.0) == pytest.approx(0.5 * 0.6 + 0.5 * 5 / 6)
    assert fused(0.6, 5.0, 6.0) > fused(0.1, 6.0, 6.0) > fused(0.7, 0.0, 6.0)


def test_the_result_is_between_zero_and_one() -> None:
    assert (fused(1.0, 9.0, 9.0), fused(-1.0, 0.0, 9.0)) == (1.0, 0.0)
