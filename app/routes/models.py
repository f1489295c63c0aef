"""`GET /v1/models` with several upstreams: their lists as one, each model as its upstream said."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from app.dialects import located
from app.ports import Reply

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

PATH: Final = b"/v1/models"
LARGEST: Final = 16 * 1024 * 1024


def merged(replies: Sequence[Reply]) -> Reply:
    """One list of all models; of two with the same id the first upstream's. Read as it is sent.

    Where no upstream gives a list, what the first one says is the answer.
    """
    if not any(reply.status == HTTPStatus.OK for reply in replies):
        for reply in replies[1:]:
            reply.close()
        return replies[0]

    def close() -> None:
        for reply in replies:
            reply.close()

    head = ((b"content-type", b"application/json"),)
    return Reply(200, head, _joined(replies), close, "all")


async def _joined(replies: Sequence[Reply]) -> AsyncIterator[bytes]:
    models: dict[str, str] = {}
    for reply in replies:
        for name, text in _models(await _whole(reply)):
            models.setdefault(name, text)
    yield ('{"object":"list","data":[' + ",".join(models.values()) + "]}").encode()


async def _whole(reply: Reply) -> str:
    body = b""
    async for chunk in reply.chunks:
        body += chunk
        if len(body) > LARGEST:
            return ""
    return body.decode("utf-8", "replace")


def _models(text: str) -> list[tuple[str, str]]:
    """Each model's id and its very text; what is no list of models is left out."""
    try:
        listed = located.members(text, located.beginning(text))["data"]
        found = located.items(text, listed.start)
        return [(str(model.value["id"]), text[model.start : model.end]) for model in found]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []
