"""Any JSON request that names a model and carries no memory: embeddings, audio, images, ….

Read only where the model decides which upstream serves it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.dialects import located
from app.dialects.reply import ChatReader
from app.domain import Call

if TYPE_CHECKING:
    from collections.abc import Mapping


class JsonDialect:
    """Knows the model's name, nothing else; what is no JSON object is left for the upstream."""

    name: Final = "json"

    def read(self, body: bytes) -> Call:
        try:
            request = located.decode(body.decode())
        except (ValueError, RecursionError):
            request = None
        model = request.get("model") if isinstance(request, dict) else None
        named = model if isinstance(model, str) else ""
        return Call(self.name, named, body, fresh=False)

    def write(self, call: Call, blocks: Mapping[int, str]) -> bytes:  # noqa: ARG002 the port's arguments
        raise ValueError("there is no user turn to attach to")

    def rename(self, body: bytes, model: str) -> bytes:
        return located.renamed(body, model)

    def reader(self, content_type: str, encoding: str = "") -> ChatReader:
        return ChatReader(content_type, encoding)
