from __future__ import annotations

from app.domain import Fact, Learned
from app.memory.extract.tidy import MAX_FACTS, tidy


def item(content: str, slot: str | None = None) -> Learned:
    return Learned(Fact(content, slot=slot), content)


def test_of_a_single_slot_the_last_stays() -> None:
    one, other = item("The user lives in Graz.", "home_city"), item("In Linz.", "home_city")
    assert tidy([one, item("The user sails.")]) == (one, item("The user sails."))
    assert tidy([one, other]) == (other,)


def test_of_a_multiple_slot_all_stay() -> None:
    items = [item("Is allergic to kiwi.", "allergy"), item("Is allergic to soy.", "allergy")]
    assert tidy(items) == tuple(items)


def test_what_says_no_more_than_another_goes() -> None:
    long, short = item("The user prefers dark mode at night."), item("The user prefers dark mode.")
    assert tidy([long, short]) == (long,)
    assert tidy([short, item("The user PREFERS dark mode.")]) == (short,)
    assert tidy([item("The user owns a boat."), short]) == (item("The user owns a boat."), short)


def test_a_message_teaches_a_bounded_number() -> None:
    assert len(tidy([item(f"The user owns boat {n}.") for n in range(99)])) == MAX_FACTS
