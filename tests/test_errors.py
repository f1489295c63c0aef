from __future__ import annotations

from app.errors import ConfigurationError, RejectedError


def test_a_rejection_has_openais_shape() -> None:
    error = RejectedError(400, "The filter 'type' is empty.", param="type", code="empty_filter")
    assert error.body() == {
        "error": {
            "message": "The filter 'type' is empty.",
            "type": "invalid_request_error",
            "param": "type",
            "code": "empty_filter",
        }
    }


def test_a_configuration_error_keeps_its_faults_apart() -> None:
    assert ConfigurationError("one", "two").faults == ("one", "two")
    assert str(ConfigurationError("one", "two")) == "one\ntwo"
