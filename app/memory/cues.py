"""From the words of a question to the slots it leans on without sharing a word with the fact. Pure.

"What's a good park nearby?" wants the town, "a quick dinner" wants the diet. A cue admits memories
past the relevance floor, so each row names what a person says about *their own* affairs; a request
that merely mentions the thing (a poem about rain, a weather API) cues nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

SPECIES: Final = (
    *("dog", "puppy", "cat", "kitten", "rabbit", "bunny", "hamster", "guinea pig", "parrot"),
    *("bird", "budgie", "fish", "turtle", "tortoise", "horse", "pony", "snake", "lizard", "gecko"),
    *("ferret", "rat", "mouse", "chicken", "goat", "pig", "donkey", "hedgehog", "chinchilla"),
)


@dataclass(frozen=True, slots=True)
class Cue:
    """Words (a regex over the folded text), the slots they lean on, and what speaks against it."""

    words: re.Pattern[str]
    slots: frozenset[str]
    unless: re.Pattern[str] | None = None


def _words(*phrases: str) -> re.Pattern[str]:
    return re.compile(r"(?<!\w)(?:" + "|".join(phrases) + r")(?!\w)")


# The thing as a theme or as an object of code, not as the asker's own affair.
_THEME: Final = _words(
    r"haikus?|poems?|stor(?:y|ies)|novels?|songs?|lyrics|essays?|jokes?|limericks?|sonnets?|scenes?",
    r"apis?|endpoints?|functions?|class(?:es)?|regex|sql|json|datasets?|app|website|widget",
    r"history of|etymology|translate|meaning of|word for|definition",
)
_NAMED_LANGUAGE: Final = _words(
    r"python|java|javascript|typescript|rust|go|golang|ruby|php|c\+\+|c#|c|swift|kotlin|scala|bash",
    r"sql|html|css|haskell|elixir|clojure|perl|lua|r|julia|dart|powershell|matlab|zig|ocaml",
)
_FOOD: Final = frozenset({"diet", "allergy", "food_avoided"})
_CODE: Final = frozenset(
    f"code_style.{part}" for part in ("indentation", "comments", "types", "naming", "quotes")
)
_PARTNER: Final = r"my (?:wife|husband|partner|girlfriend|boyfriend|spouse|fianc[eé]e?)"


def _row(words: re.Pattern[str], *slots: str, unless: re.Pattern[str] | None = None) -> Cue:
    return Cue(words, frozenset(slots), unless)


CUES: Final[tuple[Cue, ...]] = (
    # where
    _row(
        _words(
            r"nearby|near (?:me|here|by)|near(?:est)?\b.{0,30}\bto me|around here",
            r"close (?:by|to me)",
            r"in my (?:area|city|town|neighbou?rhood|region)|my (?:home ?town|city|address|local)",
            r"where (?:do|did|should) (?:i|we) live|where am i (?:based|living|from)|where i live",
        ),
        "home_city",
    ),
    _row(
        _words(
            r"(?:the|today'?s|tomorrow'?s|this week'?s|what'?s) weather|weather (?:like|forecast)",
            r"weather (?:today|tonight|tomorrow|this|now|outside|next)|(?:an|my) umbrella",
            r"(?:will|is) it (?:going to )?(?:rain|snow|raining|snowing|sunny|cold|hot)",
        ),
        "home_city",
        unless=_THEME,
    ),
    _row(
        _words(r"flights? (?:to|from)|fly(?:ing)? to|visa"),
        "home_city",
        "nationality",
        unless=_THEME,
    ),
    _row(
        _words(r"my country|which country|my taxes|public holidays?"), "home_country", "home_city"
    ),
    _row(
        _words(r"what time is it|my time ?zone|my local time|schedule a (?:call|meeting)"),
        *("timezone", "home_city"),
        unless=_THEME,
    ),
    # what to eat
    _row(
        _words(
            r"recipes?|cook(?:ing)?|bake|baking|dinner|lunch|breakfast|brunch|supper|snacks?|dessert",
            r"restaurants?|meals?|grocer(?:y|ies)|takeaway|take-?out|(?:to|should i) eat|menu",
        ),
        *_FOOD,
        unless=_THEME,
    ),
    _row(_words(r"painkillers?|medications?|antibiotics?|supplements?"), "allergy", "health"),
    _row(
        _words(r"work ?outs?|exercise plan|training plan|fitness"), "health", "age", unless=_THEME
    ),
    # who
    _row(_words(r"who am i|what(?:'s| is) my name|what am i called|my signature"), "name"),
    _row(
        _words(r"introduce me|my bio|about me|cover letter|my (?:resume|cv)"),
        "name",
        "job",
        "employer",
    ),
    _row(
        _words(r"how old am i|my age|when was i born|my (?:birthday|birth ?date)"),
        "age",
        "birthday",
    ),
    # work
    _row(
        _words(
            r"where (?:do|am) i (?:work|working|employed)|who do i work for|my (?:company|employer)"
        ),
        "employer",
    ),
    _row(
        _words(
            r"my (?:current |new )?(?:job|role|position|profession|occupation|career|job title)",
            r"what do i do(?: for (?:a living|work))?(?=\?|$)",
        ),
        *("job", "employer"),
    ),
    _row(
        _words(r"what (?:do|am) i (?:study|studying)|my (?:degree|major|studies)"),
        "studies",
        "school",
    ),
    # people and pets
    _row(_words(_PARTNER, r"our anniversary|date night"), "partner.name"),
    _row(_words(r"my (?:kids?|child|children|son|daughter|baby)s?"), "child.name"),
    *(
        Cue(_words(f"my {species}s?"), frozenset({f"pet.{key}", f"pet.{key}.name"}))
        for species in SPECIES
        for key in (species.replace(" ", "_"),)
    ),
    _row(
        _words(r"my pets?|(?:a|the|my) vet"),
        *(
            f"pet.{s}{part}"
            for s in ("dog", "cat", "rabbit", "hamster", "bird")
            for part in ("", ".name")
        ),
    ),
    # code and tools
    _row(
        _words(
            r"(?:write|implement|create|refactor|rewrite|add|generate)\b.{0,40}\b"
            r"(?:functions?|class(?:es)?|scripts?|methods?|modules?|code|snippet|program|component)",
        ),
        *_CODE,
    ),
    _row(
        _words(
            r"(?:write|implement|create|generate)\b.{0,40}\b(?:function|script|program|snippet)"
        ),
        "programming_language",
        unless=_NAMED_LANGUAGE,
    ),
    _row(
        _words(
            r"(?:install|update|upgrade|add|remove|bump)\b.{0,20}\b(?:dependenc(?:y|ies)|packages?|deps)",
            r"(?:install|update|upgrade) (?:the |our |all )?dependencies|npm install|lock ?file",
            r"how (?:do i|do we|can i|to) install (?!(?:an?|the|my|some|new)\b)[\w@/.-]+",
            r"commands? to (?:add|install|remove|update|upgrade)|package manager",
        ),
        "project.package_manager",
    ),
    _row(
        _words(r"(?:our|the) (?:database|db|schema)|(?:db|database|schema) migrations?"),
        "project.database",
    ),
    _row(_words(r"deploy(?:ing|ment)?|ship (?:it|this)"), "project.deploy", unless=_THEME),
    _row(
        _words(r"run (?:the|our|all|my) tests|test suite|unit tests?|test (?:runner|framework)"),
        "project.test",
    ),
    _row(_words(r"(?:our|the|which|what) (?:ci|build|pipeline)"), "project.ci"),
    _row(_words(r"(?:our|the|which|what) (?:linter|formatter)"), "project.linter"),
    _row(
        _words(r"my editor|key ?bindings?|editor (?:setup|config|plugins?)|which editor"), "editor"
    ),
    _row(_words(r"my (?:shell|terminal|dotfiles|prompt)|shell alias(?:es)?"), "shell", "os"),
    _row(_words(r"my (?:computer|laptop|machine|pc|operating system|os)"), "os"),
)

# A question sits at the head or the end of a turn; between them lies material.
_HEAD: Final = 400


def cues(text: str) -> frozenset[str]:
    """The slots that a turn leans on, by its own words; empty for most turns."""
    asked = text if len(text) <= 2 * _HEAD else f"{text[:_HEAD]}\n{text[-_HEAD:]}"
    folded = asked.casefold().replace("’", "'")
    return frozenset(
        slot
        for cue in CUES
        if cue.words.search(folded) and not (cue.unless and cue.unless.search(folded))
        for slot in cue.slots
    )
