"""API shapes. `DIALECTS` is the registry: (method, path) to the dialect that speaks it.

Any other path carries no memory and passes through unread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.dialects.chat import ChatDialect

if TYPE_CHECKING:
    from app.ports import Dialect

DIALECTS: Final[dict[tuple[str, bytes], Dialect]] = {
    ("POST", b"/v1/chat/completions"): ChatDialect(),
}
