from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.domain import Pool
from app.memory.extract.heuristic import extract
from app.memory.extract.rules import apply, group, read
from tests.memory.extract.reading import AT, EN, one_clause

# One clause for each rule that is not shown in test_heuristic: what it says, and in which slot.
RULES = [
    ("everyone calls me Pip", "The user goes by Pip.", "preferred_name"),
    ("my pronouns are they/them", "The user's pronouns are they/them.", "pronouns"),
    ("I turned 40 yesterday", "The user is 40 years old since 2026-11-29.", "age"),
    ("I'm a 51 year old dad", "The user is 51 years old.", "age"),
    ("my birthday is July 9", "The user's birthday is July 9.", "birthday"),
    ("I was born in Graz", "The user was born in Graz.", "birthplace"),
    ("I'm Austrian", "The user is Austrian.", "nationality"),
    ("I got engaged", "The user got engaged.", "marital_status"),
    ("I live in Norway now", "The user lives in Norway.", "home_country"),
    ("we moved to Canada", "The user lives in Canada.", "home_country"),
    ("i live in graz", "The user lives in graz.", "home_city"),
    ("I'm a baker based in Graz", "The user lives in Graz.", "home_city"),
    ("Graz is my home", "The user lives in Graz.", "home_city"),
    ("I'm originally from Graz", "The user is originally from Graz.", "hometown"),
    ("I'm a baker from Graz", "The user is from Graz.", "hometown"),
    ("I'm in the UTC+2 timezone", "The user is in the UTC+2 timezone.", "timezone"),
    ("I joined Initech", "The user works at Initech.", "employer"),
    ("I'm a cook at a small hotel", "The user works at a small hotel.", "employer"),
    ("I'm the founder of Birdly", "The user works at Birdly.", "employer"),
    ("I got fired", "The user got fired.", "employer"),
    ("I work as a nurse", "The user works as a nurse.", "job"),
    ("I started at Birdly as a cook", "The user works as a cook.", "job"),
    ("my job is piano tuning", "The user's job is piano tuning.", "job"),
    ("I got promoted to Head Chef", "The user was promoted to Head Chef.", "job"),
    ("I'm self-employed", "The user is self-employed.", "job"),
    ("I'm studying law", "The user is studying law.", "studies"),
    ("I'm a law student in Graz", "The user is a law student in Graz.", "studies"),
    ("I speak Czech", "The user speaks Czech.", "language"),
    ("I'm learning the oboe", "The user is learning the oboe.", "learning"),
    ("I keep kosher", "The user keeps kosher.", "diet"),
    ("I don't eat lamb", "The user doesn't eat lamb.", "food_avoided"),
    ("my son is allergic to kiwi", "The user's son is allergic to kiwi.", "allergy"),
    ("I have asthma", "The user has asthma.", "health"),
    ("my wife is called Ida", "The user's wife is called Ida.", "partner.name"),
    ("I'm married to Ida", "The user's partner is called Ida.", "partner.name"),
    ("our son is called Per", "The user's son is called Per.", "child.name"),
    ("I have two sons, Per and Bo", "The user has two sons, Per and Bo.", "child.name"),
    ("my boss is called Ida", "The user's boss is called Ida.", "person.boss.name"),
    ("our puppy's name is Pip", "The user's puppy is called Pip.", "pet.dog.name"),
    ("my cat is Pip", "The user's cat is called Pip.", "pet.cat.name"),
    ("I have a cat named Pip", "The user has a cat named Pip.", "pet.cat.name"),
    ("I adopted a kitten", "The user adopted a kitten.", "pet.cat"),
    ("my favourite soup is miso", "The user's favourite soup is miso.", "favorite.soup"),
    ("I prefer tea over coffee", "The user prefers tea over coffee.", "likes.tea"),
    ("I'm a huge fan of opera", "The user is a huge fan of opera.", "likes.opera"),
    ("I bought a new bike", "The user bought a new bike.", "owns.bike"),
    ("I use zsh", "The user uses zsh.", "shell"),
    ("my laptop runs Fedora", "The user's laptop runs Fedora.", "os"),
    ("I mostly write Rust", "The user mostly writes Rust.", "programming_language"),
    ("we indent with tabs", "The team indents with tabs.", "project.indentation"),
    ("we use two spaces", "The team uses two spaces.", "project.indentation"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "content", "slot"), RULES)
def test_each_rule_says_what_it_found(text: str, content: str, slot: str | None) -> None:
    found, _ = apply(read(one_clause(text), AT, EN), EN.rules)
    assert (content, slot) in [(item.fact.content, item.fact.slot) for item in found]


@pytest.mark.parametrize(
    "text",
    [
        "I live in fear",
        "I'm a bit late",
        "I'm 12 cm tall",
        "I have two horses to feed",
        "I like it",
    ],
)
def test_what_only_looks_like_a_value(text: str) -> None:
    found, _ = apply(read(one_clause(text), AT, EN), EN.rules)
    single = {"home_city", "job", "age", "likes.it", "owns.it"}
    assert {item.fact.slot for item in found} & single == set()


def test_a_partial_rule_leaves_the_rest_to_be_told() -> None:
    found, whole = apply(read(one_clause("my dog Pip hates rain"), AT, EN), EN.rules)
    assert [item.fact.slot for item in found] == ["pet.dog.name"]
    assert not whole


def test_a_new_value_holds_since_the_day_that_is_named() -> None:
    ((item,), _) = apply(read(one_clause("I moved to Graz last month"), AT, EN), EN.rules)
    assert item.valid_from == datetime(2026, 10, 1, tzinfo=UTC)
    ((item,), _) = apply(read(one_clause("I was born in Graz last May"), AT, EN), EN.rules)
    assert item.valid_from is None


def test_who_we_are() -> None:
    assert group("we use it", Pool.PROJECT, EN).subject == "the team"
    assert group("our customers love it", Pool.USER, EN).subject == "the user's team"
    assert group("we sail", Pool.USER, EN).plural


@pytest.mark.requirement("M36")
@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("We use Prettier.", "project.linter"),
        ("We use Prettier too.", None),
        ("We also use Prettier.", None),
        ("My new phone is a Fairphone 5.", "own.phone"),
        ("My phone is broken.", None),
        ("Our stand-up is at 10:15.", "schedule.stand_up"),
    ],
)
def test_what_is_said_beside_something_does_not_take_its_place(text: str, slot: str | None) -> None:
    found = extract(text, AT, EN)
    assert {item.fact.slot for item in found} <= {slot}
    assert found or text == "My phone is broken."
