from __future__ import annotations

import pytest
from pydantic import ValidationError

from app.settings.section import Section


class Table(Section):
    size: int = 1


def test_a_table_is_frozen_and_knows_its_keys() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Table().size = 2  # type: ignore[misc]
    with pytest.raises(ValidationError, match="extra"):
        Table.model_validate({"sise": 2})
