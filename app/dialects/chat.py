"""OpenAI's `POST /v1/chat/completions`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from app.dialects import located
from app.dialects.prefix import user_turns
from app.dialects.reply import ChatReader
from app.dialects.roomy import is_roomy
from app.domain import Call, Message
from app.errors import RejectedError

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_QUERY_CHARS: Final = 100_000
RECENT_MESSAGES: Final = 6
# Among the last so many, those without a text are passed over.
SEEN_MESSAGES: Final = 40
RECENT_CHARS: Final = 2_000


class ChatDialect:
    """Reads a chat request; attaches blocks to its user turns."""

    name: Final = "chat"

    def read(self, body: bytes) -> Call:
        request = _parse(body)
        messages = _messages(request)
        try:
            turns = user_turns(messages)
        except RecursionError:
            raise _too_deep() from None
        place = turns[-1].place if turns else len(messages)
        before = messages[max(place - SEEN_MESSAGES, 0) : place]
        recent = [Message(str(m.get("role")), _text(m.get("content"))) for m in before]
        return Call(
            dialect=self.name,
            model=_string(request, "model") or "",
            body=body,
            stream=request.get("stream") is True,
            query=_text(messages[place].get("content"))[:MAX_QUERY_CHARS] if turns else "",
            recent=tuple([_shorter(m) for m in recent if m.text][-RECENT_MESSAGES:]),
            turns=turns,
            fresh=not any(_of_tools(m) for m in messages[place + 1 :]),
            roomy=is_roomy(request),
            end_user=_end_user(request),
        )

    def write(self, call: Call, blocks: Mapping[int, str]) -> bytes:
        text = call.body.decode()
        conversation = located.members(text, located.beginning(text))["messages"]
        messages = located.items(text, conversation.start)
        parts, done = [], 0
        for place in sorted(blocks):
            content = located.members(text, messages[place].start)["content"]
            # Before the closing quote of a text, or the closing bracket of a list of parts.
            parts += [text[done : content.end - 1], _attachment(content.value, blocks[place])]
            done = content.end - 1
        return "".join((*parts, text[done:])).encode()

    def rename(self, body: bytes, model: str) -> bytes:
        return located.renamed(body, model)

    def reader(self, content_type: str, encoding: str = "") -> ChatReader:
        return ChatReader(content_type, encoding)


def _attachment(content: str | list[Any], block: str) -> str:
    if isinstance(content, str):
        return json.dumps(f"\n\n{block}" if content else block, ensure_ascii=False)[1:-1]
    part = json.dumps({"type": "text", "text": block}, ensure_ascii=False)
    return f"{',' if content else ''}{part}"


def _of_tools(message: dict[str, Any]) -> bool:
    asks = message.get("tool_calls") or message.get("function_call")
    return bool(asks) or message.get("role") in ("tool", "function")  # a role may be anything


def _parse(body: bytes) -> dict[str, Any]:
    try:
        request = located.decode(body.decode())
    except RecursionError:
        raise _too_deep() from None
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


def _end_user(request: dict[str, Any]) -> str | None:
    metadata = request.get("metadata")
    inner = metadata.get("user_id") if isinstance(metadata, dict) else None
    named = request.get("user") or request.get("safety_identifier") or inner
    return named if isinstance(named, str) else None


def _too_deep() -> RejectedError:
    return _bad("The request body is nested too deeply.", code="invalid_json")


def _wrong_type(param: str, expected: str) -> RejectedError:
    return _bad(f"Invalid type for '{param}': expected {expected}.", param, "invalid_type")


def _bad(message: str, param: str | None = None, code: str | None = None) -> RejectedError:
    return RejectedError(400, message, param=param, code=code)
