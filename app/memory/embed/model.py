"""What a sentence encoder is: `Model` makes an `Embedding` of each text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from app.domain import Shape

    Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Embedding:
    """What models make of one text; None: the text is not theirs, or they make no such thing.

    `dense`: (d,), unit length; `tokens`: (n, t), a unit vector for each of n word pieces;
    `weights`: (n,), how much each of them says, 1 together; `multilingual`: (m,), unit length.
    """

    dense: Array | None = field(default=None, repr=False)
    tokens: Array | None = field(default=None, repr=False)
    weights: Array | None = field(default=None, repr=False)
    multilingual: Array | None = field(default=None, repr=False)


class Model(Protocol):
    """A sentence encoder. `identity` names weights and version; `floor` is its relevance floor.

    The floor is the cosine below which a memory has nothing to do with a question; it belongs to
    the model.
    """

    identity: str
    shape: Shape
    floor: float

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """One for each text; blocks."""
        ...
