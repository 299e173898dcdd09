"""Every name that people type, with what looks it up and the command that takes it: known, or refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

import numpy as np

from malformed import spoilt
from otherminds.cli.levels import load_avatars, load_level
from otherminds.language.endpoint import Endpoint
from otherminds.language.find import find_model
from otherminds.language.prices import Price
from otherminds.papers.functional.prompting import strategy
from otherminds.papers.hypothetical_minds.players import ModelAgent
from otherminds.stories.english.questions import read_question, split_options
from otherminds.stories.english.reading import read_story
from otherminds.stories.english.statements import Unread
from otherminds.worlds.in_the_matrix.scenarios import bot, scenario
from otherminds.worlds.repeated_games.partners import partner
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.by_name import player

STORY = "Sally puts the marble in the basket."
BLANKS = ("\n" * 19_000, "Which? A) x B) y" + " " * 18_000 + "z", " " * 18_000 + "Options: A) x B) y")
"""Questions that once took seconds to be taken apart."""
STRANGE = (
    *(
        "a" * 40_000,
        "../" * 3_000 + "etc/passwd",
        "/dev/zero",
        ".",
        "..",
        "~",
        "\udcff",
        "-",
        "--",
        "9" * 5_000,
        "a\0b",
        "*",
        "a:b",
    ),
    *(
        "1" * 30_000 + "/1",
        "tft~" + "9" * 5_000,
        "tft~nan",
        "cycle-" + "0" * 40_000,
        "k" * 5_000 + ".pddl",
        "x.txt",
        "٣",
        "\u202erps",
    ),
)


class Names(NamedTuple):
    """How names of a kind are looked up, good ones, and a command that takes one, `{name}`, if there is any.

    Commands that go on to play with whoever was found are not `quick`.
    """

    look_up: Callable[[str], object]
    good: tuple[str, ...]
    command: tuple[str, ...] = ()
    quick: bool = True


@cache
def names() -> Mapping[str, Names]:
    """All kinds of them."""
    ipd = find_game("ipd")
    rng, short = np.random.default_rng(0), ("--rounds", "1", "--episodes", "1")
    reading = read_story(STORY)

    def question(text: str) -> object:
        try:
            return read_question(*split_options(text), reading)
        except Unread:
            return None

    def model(text: str) -> object:
        return find_model(f"no_such_module_{text}:{text}")

    return {
        "partner": Names(
            lambda name: partner(name, ipd),
            ("tft", "tft~0.05", "cycle-011", "memory-one-10101"),
            ("play", "ipd", "{name}", "--player", "random", *short),
        ),
        "player": Names(
            lambda name: player(name, ipd, horizon=3, rng=rng),
            ("rmax", "k_tom_1", "tft~0.1"),
            ("play", "ipd", "tft", "--player", "{name}", *short),
            quick=False,
        ),
        "game": Names(find_game, ("rps", "ordinal-017"), ("play", "{name}", "random", "--player", "random", *short)),
        "level": Names(load_level, ("locked-in", "7", "own-key"), ("draw", "{name}")),
        "avatar world": Names(load_avatars, ("rws_arena", "cooking_asymmetric"), ("draw", "{name}")),
        "scenario": Names(
            scenario,
            ("rws_repeated_4", "rws_arena_3"),
            ("reproduce", "hypothetical", "--scenario", "{name}"),
            quick=False,
        ),
        "bot": Names(bot, ("rws_repeated__rock_0", "rws_repeated__paper_0")),
        "strategy": Names(strategy, ("cot", "qa+oracle")),
        "speaker": Names(
            ModelAgent.parse,
            ("HM,scripted,alpha=0.1", "MMP"),
            ("reproduce", "hypothetical", "--agent", "{name}"),
            quick=False,
        ),
        "price": Names(Price.parse, ("2.50/10", ".5/1.")),
        "endpoint": Names(Endpoint.parse, ("my-model@http://localhost:8000/v1",)),
        "model": Names(model, ("own", "a.b")),
        "experiment": Names(lambda name: None, ("mumatom",), ("reproduce", "no-{name}")),
        "question": Names(
            question,
            ("Where will Sally look for the marble?", "Who is it? A) Ann B) Ben"),
            ("ask", "{folder}/story.txt", "--question", "{name}"),
        ),
        "convention": Names(
            lambda name: None,
            ("sally-anne",),
            ("ask", "{folder}/story.txt", "--question", "Where is it?", "--convention", "no-{name}"),
        ),
        "format": Names(lambda name: None, ("tomi",), ("audit", "{folder}/story.txt", "--format", "no-{name}")),
        "view": Names(lambda name: None, ("Ana",), ("draw", "hatch", "--seen-by", "no-{name}")),
    }


def odd_name(kind: Names, rng: np.random.Generator) -> str:
    """A name that is strange, or a good one spoilt; never empty, which for some commands means that none is given."""
    if rng.random() < 0.3:
        return STRANGE[int(rng.integers(len(STRANGE)))]
    _, raw = spoilt([name.encode() for name in kind.good], rng)
    return raw.decode("utf-8", "surrogateescape")[:100_000] or "?"
