"""API shapes. `DIALECTS` is the registry: (method, path) to the dialect that speaks it.

Any other path carries no memory: it passes unread, or is read for its model alone (`PLAIN`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.dialects.chat import ChatDialect
from app.dialects.plain import JsonDialect

if TYPE_CHECKING:
    from app.ports import Dialect

DIALECTS: Final[dict[tuple[str, bytes], Dialect]] = {
    ("POST", b"/v1/chat/completions"): ChatDialect(),
}
PLAIN: Final[Dialect] = JsonDialect()
