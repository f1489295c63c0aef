"""The registry of stores, and what a store is opened with."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
import structlog

from app.domain import Where
from app.memory import STORES, StoreSpec
from app.memory.embed import Encoder, Lexical
from app.memory.embed.hashed import HashedModel
from app.settings import Settings
from tests.build import ALICE, EMBED, KEY, a_memory, contents, keep


class Named(HashedModel):
    def __init__(self, identity: str) -> None:
        self.identity = identity


def spec_of(identity: str, folder: Path = Path()) -> StoreSpec:
    settings = Settings(data_dir=folder, qdrant_url=":memory:")
    return StoreSpec(settings, Encoder(Named(identity), Lexical()), KEY)


@pytest.mark.requirement("M4")
def test_each_embedding_identity_has_a_collection_of_its_own() -> None:
    identities = ["a/b", "a-b", "a.b", "A-b", "模型", "模", "x" * 300, "x" * 301, "", "../../etc"]
    names = [spec_of(identity).collection for identity in identities]
    assert len(set(names)) == len(names)
    assert names == [spec_of(identity).collection for identity in identities]
    for name in names:
        assert re.fullmatch(r"memory-[A-Za-z0-9-]{1,60}", name)


@pytest.mark.requirement("M4")
async def test_nothing_is_searched_with_a_vector_of_another_model(tmp_path: Path) -> None:
    async with STORES["edge"](spec_of("one", tmp_path)) as store:
        await keep(store, a_memory("I like tea"))
    with structlog.testing.capture_logs() as logs:
        async with STORES["edge"](spec_of("two", tmp_path)) as store:
            assert await contents(store, ALICE) == []
    (warning,) = logs
    assert warning["event"] == "memories_of_another_model"
    assert warning["not_used"] == [spec_of("one").collection]
    assert "remora reindex" in warning["hint"]
    async with STORES["edge"](spec_of("one", tmp_path)) as store:
        assert await contents(store, ALICE) == ["I like tea"]


def test_the_settings_know_every_store() -> None:
    (choices, _) = get_args(get_type_hints(Settings)["store"])
    assert set(get_args(choices)) == STORES.keys()


@pytest.mark.parametrize("name", STORES)
async def test_a_store_is_let_go_of_when_its_use_fails(name: str, tmp_path: Path) -> None:
    spec = StoreSpec(Settings(data_dir=tmp_path, qdrant_url=":memory:"), EMBED, KEY)

    async def fail() -> None:
        async with STORES[name](spec) as store:
            await keep(store, a_memory("row"))
            raise KeyError

    with pytest.raises(KeyError):
        await fail()
    async with STORES[name](spec) as store:
        kept = (await store.find(ALICE, Where())).total
    assert kept == (1 if name == "edge" else 0)
