"""Embeddings that outlive a run, so that a second one takes seconds; off unless asked for."""

from __future__ import annotations

import hashlib
import pickle
import sqlite3
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.memory.embed import Embedding, Model


class KeptModel:
    """A model whose vectors are kept in the temporary folder, by its identity and the text."""

    def __init__(self, model: Model, folder: Path | None = None) -> None:
        self._model = model
        self.identity = model.identity
        self.shape = model.shape
        self.floor = model.floor
        folder = folder or Path(tempfile.gettempdir()) / "remora-bench"
        folder.mkdir(parents=True, exist_ok=True)
        # Only the encoder's one thread asks.
        self._kept = sqlite3.connect(folder / "embeddings-2.sqlite", check_same_thread=False)
        self._kept.execute("create table if not exists kept (key blob primary key, vector blob)")

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """As the model does, or did before."""
        keys = [hashlib.sha256(f"{self.identity}\0{text}".encode()).digest() for text in texts]
        known = {key: found for key in keys if (found := self._find(key)) is not None}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            new = self._model.embed(list(missing.values()))
            known |= dict(zip(missing, new, strict=True))
            with self._kept:
                self._kept.executemany(
                    "insert or replace into kept values (?, ?)",
                    [(key, pickle.dumps(known[key])) for key in missing],
                )
        return [known[key] for key in keys]

    def _find(self, key: bytes) -> Embedding | None:
        row = self._kept.execute("select vector from kept where key = ?", (key,)).fetchone()
        return pickle.loads(row[0]) if row else None  # noqa: S301 our own file
