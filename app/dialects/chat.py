"""OpenAI's `POST /v1/chat/completions`."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from app.dialects import located
from app.dialects.reply import ChatReader
from app.domain import Call, Message
from app.errors import RejectedError

MAX_QUERY_CHARS: Final = 100_000
RECENT_MESSAGES: Final = 6
RECENT_CHARS: Final = 2_000


class ChatDialect:
    """Reads a chat request; attaches a block to its last user turn."""

    name: Final = "chat"

    def read(self, body: bytes) -> Call:
        request = _parse(body)
        messages = _messages(request)
        turn = max((i for i, m in enumerate(messages) if m.get("role") == "user"), default=None)
        texts = [Message(str(m.get("role")), _text(m.get("content"))) for m in messages]
        before = texts if turn is None else texts[:turn]
        return Call(
            dialect=self.name,
            model=_string(request, "model") or "",
            body=body,
            stream=request.get("stream") is True,
            query="" if turn is None else texts[turn].text[:MAX_QUERY_CHARS],
            recent=tuple(_shorter(m) for m in before[-RECENT_MESSAGES:] if m.text),
            turn=turn,
            fresh=turn == len(messages) - 1,
            turn_key=_turn_key(messages[: (turn or 0) + 1]),
            end_user=_end_user(request),
        )

    def write(self, call: Call, block: str) -> bytes:
        if call.turn is None:
            raise ValueError("there is no user turn to attach to")
        text = call.body.decode()
        conversation = located.members(text, located.beginning(text))["messages"]
        message = located.item(text, conversation.start, call.turn)
        content = located.members(text, message.start)["content"]
        place = len(text[: content.end - 1].encode())
        return call.body[:place] + _attachment(content.value, block) + call.body[place:]

    def rename(self, body: bytes, model: str) -> bytes:
        return located.renamed(body, model)

    def reader(self, content_type: str, encoding: str = "") -> ChatReader:
        return ChatReader(content_type, encoding)


def _attachment(content: str | list[Any], block: str) -> bytes:
    """What goes before the closing quote of a text, or the closing bracket of a list of parts."""
    if isinstance(content, str):
        return json.dumps(f"\n\n{block}" if content else block, ensure_ascii=False)[1:-1].encode()
    part = json.dumps({"type": "text", "text": block}, ensure_ascii=False)
    return f"{',' if content else ''}{part}".encode()


def _parse(body: bytes) -> dict[str, Any]:
    try:
        request = located.decode(body.decode())
    except RecursionError:
        raise _bad("The request body is nested too deeply.", code="invalid_json") from None
    except ValueError as error:
        place = f" at character {error.pos}" if isinstance(error, json.JSONDecodeError) else ""
        raise _bad(f"The request body is not valid JSON{place}.", code="invalid_json") from None
    if not isinstance(request, dict):
        raise _bad("The request body must be a JSON object.", code="invalid_json")
    return request


def _messages(request: dict[str, Any]) -> list[dict[str, Any]]:
    messages = request.get("messages")
    if messages is None:
        raise _bad("Missing required parameter: 'messages'.", "messages", "missing_parameter")
    if not isinstance(messages, list):
        raise _wrong_type("messages", "an array of messages")
    for place, message in enumerate(messages):
        if not isinstance(message, dict):
            raise _wrong_type(f"messages[{place}]", "an object")
        if not isinstance(message.get("content"), str | list | None):
            raise _wrong_type(f"messages[{place}].content", "a string or an array of parts")
    return messages


def _string(request: dict[str, Any], name: str) -> str | None:
    value = request.get(name)
    if value is not None and not isinstance(value, str):
        raise _wrong_type(name, "a string")
    return value


def _text(content: str | list[Any] | None) -> str:
    if not isinstance(content, list):
        return content or ""
    parts = (p.get("text") for p in content if isinstance(p, dict) and p.get("type") == "text")
    return "\n".join(part for part in parts if isinstance(part, str))


def _shorter(message: Message) -> Message:
    return Message(message.role, message.text[:RECENT_CHARS])


def _turn_key(messages: list[dict[str, Any]]) -> str:
    """A digest of the conversation up to the user turn, blind to spaces around a text."""
    state = hashlib.blake2b(digest_size=16)
    for message in messages:
        content = message.get("content")
        rest = {k: v for k, v in message.items() if k not in {"content", "role"}}
        plain = content.strip() if isinstance(content, str) else content
        known = [message.get("role"), plain, rest]
        state.update(json.dumps(known, sort_keys=True, default=repr).encode())
    return state.hexdigest()


def _end_user(request: dict[str, Any]) -> str | None:
    metadata = request.get("metadata")
    inner = metadata.get("user_id") if isinstance(metadata, dict) else None
    named = request.get("user") or request.get("safety_identifier") or inner
    return named if isinstance(named, str) else None


def _wrong_type(param: str, expected: str) -> RejectedError:
    return _bad(f"Invalid type for '{param}': expected {expected}.", param, "invalid_type")


def _bad(message: str, param: str | None = None, code: str | None = None) -> RejectedError:
    return RejectedError(400, message, param=param, code=code)
