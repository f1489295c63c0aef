"""Scripts that are written without spaces, as ranges for a regex's character class."""

from __future__ import annotations

import re
from typing import Final

KANA: Final = r"\u3040-\u30ff"
HAN: Final = r"\u3400-\u9fff"
CJK: Final = re.compile(f"[{KANA}{HAN}]")
