from __future__ import annotations

from dataclasses import asdict

import pytest
from pydantic import ValidationError

from app.memory.fusion import Weights
from app.settings import RecallSettings, WeightSettings


def test_the_weights_are_those_that_were_measured() -> None:
    assert RecallSettings().weights.model_dump() == asdict(Weights())


@pytest.mark.parametrize("name", sorted(WeightSettings.model_fields))
def test_no_evidence_counts_against_a_memory(name: str) -> None:
    with pytest.raises(ValidationError):
        WeightSettings.model_validate({name: -0.1})
