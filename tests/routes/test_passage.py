from __future__ import annotations

import json
from typing import Any

import pytest
import structlog
from starlette.types import Message

from app.domain import Arrival
from app.errors import RejectedError, UpstreamError
from app.routes.client import Client
from app.routes.passage import Passage


class Connection:
    """An ASGI connection that nothing comes from, and what was sent on it."""

    def __init__(self) -> None:
        self.sent: list[Message] = []

    async def receive(self) -> Message:
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.sent.append(message)

    def passage(self, path: bytes = b"/v1/chat/completions") -> Passage:
        return Passage(Client(self.receive, self.send), Arrival("POST", path, b"", ()))

    @property
    def error(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.sent[-1]["body"])["error"]
        return found


async def test_an_error_has_openais_shape_and_our_headers() -> None:
    connection = Connection()
    await connection.passage().refuse(RejectedError(400, "No.", param="model", code="bad"))
    head = dict(connection.sent[0]["headers"])
    assert connection.sent[0]["status"] == 400
    assert head[b"content-length"] == str(len(connection.sent[1]["body"])).encode()
    assert head[b"x-remora-request-id"].startswith(b"req_")
    assert connection.error == {
        "message": "No.",
        "type": "invalid_request_error",
        "param": "model",
        "code": "bad",
    }


@pytest.mark.requirement("G11")
async def test_an_upstreams_failure_is_an_api_error() -> None:
    connection = Connection()
    await connection.passage().refuse(UpstreamError(502, "upstream_broken", "It broke off."))
    assert (connection.sent[0]["status"], connection.error["type"]) == (502, "api_error")


async def test_an_answer_that_has_begun_is_left_broken() -> None:
    connection = Connection()
    passage = connection.passage()
    await passage.client.start(200, [])
    await passage.refuse(UpstreamError(502, "upstream_broken", "It broke off."))
    assert [message["type"] for message in connection.sent] == ["http.response.start"]
    with structlog.testing.capture_logs() as lines:
        passage.report()
    assert [line["broken"] for line in lines] == ["upstream_broken"]


@pytest.mark.requirement("G25")
async def test_the_log_line_says_which_upstream_failed() -> None:
    passage = Connection().passage()
    await passage.refuse(UpstreamError(502, "upstream_unreachable", "No.", "local"))
    with structlog.testing.capture_logs() as lines:
        passage.report()
    assert [(line["upstream"], line["status"]) for line in lines] == [("local", 502)]


async def test_nobody_is_told_when_nobody_is_there() -> None:
    connection = Connection()
    passage = connection.passage()
    passage.client.gone = True
    await passage.refuse(RejectedError(400, "No."))
    assert connection.sent == []


@pytest.mark.requirement("G25")
@pytest.mark.parametrize(
    ("path", "route"),
    [
        (b"/v1/chat/completions", "/v1/chat"),
        (b"/v1/files/file-secret/content", "/v1/files"),
        (b"/v1/my-secret", "/v1/other"),
        (b"/v1", "/v1/other"),
        (b"/v1/\xff", "/v1/other"),
    ],
)
def test_the_log_line_names_a_route_and_no_path(path: bytes, route: str) -> None:
    with structlog.testing.capture_logs() as lines:
        Connection().passage(path).report()
    assert [line["route"] for line in lines if line["event"] == "call"] == [route]
