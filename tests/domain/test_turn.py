from __future__ import annotations

from app.domain import Fact, Learned, Topic


def test_only_what_keeps_nothing_withdraws() -> None:
    said = Learned(Fact("The user sold the bike."), "")
    bike = frozenset({"bike"})
    withdraws = [
        Learned(said.fact, "", topic=topic).withdraws
        for topic in (None, Topic(bike), Topic(bike, kept=False))
    ]
    assert withdraws == [False, False, True]
