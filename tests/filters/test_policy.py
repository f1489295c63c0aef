from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.domain import Arrival, Call, Exchange, Identity, Owner, Placement, Policy, UserTurn
from app.errors import RejectedError
from app.filters.policy import Allow, base_policy, narrowed, wished, without
from app.settings import LearningSettings, PolicySettings, RecallSettings, Settings
from tests.build import ALICE, START

BOTH = Policy()
CALL = Call("chat", "gpt-4.1", b"", turns=(UserTurn(0, "k"),))


def exchange(owner: Owner | None = ALICE, app: str | None = None, **headers: str) -> Exchange:
    pairs = tuple((k.replace("_", "-").encode(), v.encode()) for k, v in headers.items())
    arrival = Arrival("POST", b"/v1/chat/completions", b"", pairs)
    identity = Identity("acme", owner, app=app) if owner else None
    return Exchange(
        "req_1", START, arrival, Call("chat", "gpt-4.1", b"", turns=(UserTurn(0, "k"),)), identity
    )


async def allowed(given: Exchange, *rules: PolicySettings, **settings: Any) -> tuple[bool, bool]:
    policy = (await Allow(Settings(policies=rules, **settings))(given)).policy
    return policy.read, policy.write


@pytest.mark.requirement("M10")
@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        ("off", (False, False)),
        ("read", (True, False)),
        ("write", (False, True)),
        ("on", (True, True)),
        (" OFF ", (False, False)),
    ],
)
async def test_a_clients_no_always_holds(wish: str, expected: tuple[bool, bool]) -> None:
    assert await allowed(exchange(x_memory=wish)) == expected


@pytest.mark.requirement("M10")
@pytest.mark.parametrize("wish", ["on", "read", "write"])
async def test_a_servers_no_cannot_be_undone(wish: str) -> None:
    asked = exchange(x_memory=wish)
    assert await allowed(asked, memory=False) == (False, False)
    assert await allowed(asked, PolicySettings(read=False, write=False)) == (False, False)
    never_read, never_write = PolicySettings(read=False), PolicySettings(write=False)
    undone = PolicySettings(read=True, write=True)
    assert (await allowed(asked, never_read, undone))[0] is False
    assert (await allowed(asked, never_write, undone))[1] is False


@pytest.mark.requirement("M10")
async def test_without_a_no_both_directions_are_open() -> None:
    assert await allowed(exchange()) == (True, True)
    assert await allowed(exchange(), PolicySettings(limit=3)) == (True, True)


@pytest.mark.requirement("M10")
@pytest.mark.parametrize(
    ("condition", "matches"),
    [
        ({"model": "gpt-*"}, True),
        ({"model": "llama*"}, False),
        ({"path": "/v1/chat/*"}, True),
        ({"path": "/v1/embeddings"}, False),
        ({"app": "ci"}, True),
        ({"app": "ide"}, False),
        ({"project": "apollo"}, True),
        ({"project": "other"}, False),
        ({"model": "gpt-*", "app": "ide"}, False),
        ({}, True),
    ],
)
async def test_a_rule_counts_where_all_its_conditions_match(
    condition: dict[str, str], *, matches: bool
) -> None:
    given = exchange(Owner("acme", "alice", "apollo"), app="ci")
    rule = PolicySettings(read=False, write=False, **condition)  # type: ignore[arg-type]
    assert await allowed(given, rule) == (not matches, not matches)


@pytest.mark.requirement("M5")
async def test_nobody_has_no_memory() -> None:
    given = await Allow(Settings())(exchange(None))
    assert (given.policy.read, given.policy.write) == (False, False)
    assert given.policy.reason == "no_identity"


async def test_an_unknown_wish_is_refused() -> None:
    with pytest.raises(RejectedError) as caught:
        await Allow(Settings())(exchange(x_memory="of"))
    assert (caught.value.status, caught.value.code) == (400, "invalid_memory_mode")


def test_the_first_reason_for_not_reading_stays() -> None:
    policy = without(BOTH, read=True, write=False, reason="policy")
    assert without(policy, read=True, write=True, reason="client").reason == "policy"
    assert without(BOTH, read=False, write=True, reason="client").reason is None
    assert wished(BOTH, None) == BOTH


def test_how_to_do_it_comes_from_the_settings_and_the_later_rule() -> None:
    settings = Settings(
        recall=RecallSettings(limit=5, max_tokens=99, threshold=0.4, gate="noop"),
        learning=LearningSettings(extractor="none"),
    )
    base = base_policy(settings)
    assert (base.limit, base.max_tokens, base.threshold) == (5, 99, 0.4)
    assert (base.gate, base.extractor) == ("noop", "none")
    changed = narrowed(base, PolicySettings(limit=2, gate="heuristic"))
    assert (changed.limit, changed.max_tokens, changed.gate) == (2, 99, "heuristic")
    assert (base.rewrite, narrowed(base, PolicySettings(rewrite=False)).rewrite) == (True, False)


@pytest.mark.requirement("M11")
@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (None, "path"),
        (Call("json", "m", b""), "path"),
        (Call("chat", "m", b""), "no_user_turn"),
        (Call("chat", "m", b"", turns=(UserTurn(0, "k"),)), None),
    ],
)
async def test_where_nobody_speaks_there_is_nothing_to_remember(
    call: Call | None, reason: str | None
) -> None:
    policy = (await Allow(Settings())(replace(exchange(), call=call))).policy
    assert policy.reason == reason
    assert (policy.read, policy.write) == (reason is None, reason is None)


@pytest.mark.requirement("M10", "M24")
def test_where_blocks_stand_is_a_matter_of_policy() -> None:
    base = base_policy(Settings(recall=RecallSettings(placement=Placement.CURRENT_TURN)))
    assert (base.read, base.placement) == (True, Placement.CURRENT_TURN)
    off = narrowed(base, PolicySettings(placement=Placement.OFF))
    assert (off.read, off.write, off.reason) == (False, True, "policy")
    nowhere = base_policy(Settings(recall=RecallSettings(placement=Placement.OFF)))
    assert (nowhere.read, nowhere.write, nowhere.reason) == (False, True, "off")
