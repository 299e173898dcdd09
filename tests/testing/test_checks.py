"""The checks pass whatever comes with the library, and catch what is deliberately broken, each by its own name."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from broken_messages import BROKEN_GOALS, BROKEN_MESSAGES, COME, GOERS, OPEN, Wanting, boards, changing, messages
from broken_minds import BROKEN_MINDS, BROKEN_PLAYERS, Copycat, Said, Walker
from broken_worlds import BROKEN_WORLDS, Place, Plank, broken
from cooks import cook
from households import home_from, household
from kitchens import kitchen
from otherminds import (
    Categorical,
    CookingBot,
    DoorsKeysGemsPlanner,
    Goal,
    RepeatedGame,
    Seeker,
    Task,
    WithErrand,
    bundled_levels,
    cooking_asymmetric,
    find_game,
    in_the_matrix,
    partner,
    player,
)
from otherminds.papers.hypothetical_minds.agent import HypotheticalMinds
from otherminds.papers.hypothetical_minds.melting_pot import background
from otherminds.papers.hypothetical_minds.ppo import Trained, shipped
from otherminds.papers.hypothetical_minds.programs import Programs
from otherminds.testing import (
    ConformanceError,
    check_goal_directed,
    check_messages,
    check_mind,
    check_mindreader,
    check_world,
)
from otherminds.worlds.household.agent import uniform_odds
from otherminds.worlds.household.rules import Household
from otherminds.worlds.household.searcher import Errand, Searcher
from otherminds.worlds.in_the_matrix.hypotheses import library
from otherminds.worlds.in_the_matrix.scenarios import bot
from otherminds.worlds.repeated_games.machines import constant, periodic, together
from otherminds.worlds.repeated_games.players.best_responders import Informed
from otherminds.worlds.repeated_games.players.by_name import PLAYERS
from otherminds.worlds.repeated_games.rules import Game, Outcome
from paths import ROOT
from strategies import generator

PAGES = ("CONTRIBUTING.md", *(f"docs/how-to/{name}.md" for name in ("world", "mind", "partner", "player")))
IPD = find_game("ipd")


# What comes with the library


@cache
def home() -> Household:
    places = home_from("kitchen: +fridge, table | bedroom: desk, +drawer")
    return household(places, {"Ana": "kitchen", "Ben": "bedroom"}, {"apple": "drawer"})


@cache
def gate() -> Any:
    return next(level.world for level in bundled_levels() if level.name == "garden-gate")


KITCHEN = kitchen("-----", "t1  /", "p 2 -", "--*--")

WORLDS: Mapping[str, Callable[[], Any]] = {
    "doors_keys_gems": gate,
    "in_turns": lambda: replace(gate(), turns="alternating"),
    "overcooked": lambda: KITCHEN,
    "repeated_game": lambda: RepeatedGame(find_game("rps"), 20),
    "matrix_of_two": lambda: in_the_matrix("rws_repeated"),
    "matrix_of_eight": lambda: in_the_matrix("rws_arena"),
    "cooking": cooking_asymmetric,
    "household": home,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_worlds_of_the_library(name: str) -> None:
    check_world(WORLDS[name]())


def told() -> WithErrand[Any]:
    seeker = Seeker(DoorsKeysGemsPlanner(gate()), 1, Goal("gem", 0))
    return WithErrand(seeker, seeker)


def in_matrix(make: Callable[[Any, str], Any]) -> tuple[Any, Any, Mapping[str, Any]]:
    world = in_the_matrix("rws_repeated")
    return make(world, world.agents[0]), world, {"steps": 40}


def hypothetical(world: Any, me: str) -> HypotheticalMinds:
    return HypotheticalMinds.initial(world, me, Programs.of(library(world.rules)), generator())


MINDS: Mapping[str, Callable[[], tuple[Any, Any, Mapping[str, Any]]]] = {
    "seeker": lambda: (Seeker(DoorsKeysGemsPlanner(gate()), 0, Goal("gem", gate().goals[0])), gate(), {}),
    "told": lambda: (told(), gate(), {"agent": "Ben"}),
    "cook": lambda: (cook(KITCHEN, "SimpleTomato", 0, beta=2.0, lapse=0.05), KITCHEN, {}),
    "chef": lambda: (CookingBot(cooking_asymmetric(), slip=0.1), cooking_asymmetric(), {}),
    "bot": lambda: in_matrix(lambda world, me: background(world, me, bot("rws_repeated__rock_0"), generator())),
    "trained": lambda: in_matrix(lambda world, me: Trained.initial(world, me, shipped("rws_repeated"))),
    "hypothetical": lambda: in_matrix(hypothetical),
    "searcher": lambda: (
        Searcher(home().home, "Ana", Errand("apple", "table"), uniform_odds(home().home), True),
        home(),
        {"lapse": 0.05},
    ),
    "machine": lambda: (partner("gtft", IPD).start, RepeatedGame(IPD, 30), {"agent": "partner"}),
    "shown": lambda: (partner("joss", IPD).start, [None, Outcome(0, 1, 0.0), Outcome(1, 0, 5.0)] * 5, {}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MINDS)
def test_minds_of_the_library(name: str) -> None:
    mind, where, more = MINDS[name]()
    check_mind(mind, where, **more)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*PLAYERS, "tft", "random", "gtft"])
def test_players_of_the_library(name: str) -> None:
    check_mindreader(player(name, IPD, horizon=30, rng=generator()), IPD)


def test_players_with_a_partner_and_with_several() -> None:
    task = Task(IPD, partner("tft", IPD), 20)
    check_mindreader(Informed(IPD, task.partner.start, task.horizon), task)
    three = Game("three", ("a", "b", "c"), (("0", "1"),) * 3, tuple((float(i),) * 3 for i in range(8)))
    both = together(three, [periodic("to and fro", three, [0, 1]), constant(three, 0, agent=2)])
    for where in (three, Task(three, both, 10)):
        check_mindreader(player("counts_myopic", three, horizon=30, rng=generator()), where)


# What is broken


@pytest.mark.parametrize("name", BROKEN_WORLDS)
def test_broken_worlds_are_told_what_is_broken(name: str) -> None:
    world, message = BROKEN_WORLDS[name]
    with pytest.raises(ConformanceError, match=message) as told:
        check_world(world)
    assert str(told.value).count("\n") == 0


@pytest.mark.slow
def test_a_world_that_keeps_its_promises() -> None:
    check_world(Plank())
    check_world(Plank(vocabulary={f"go {way}": way for way in ("left", "stay", "right")}))


def test_worlds_may_begin_where_they_end() -> None:
    """Every other first state is the last one."""
    hasty = broken(start=lambda self, rng: Place(t=int(rng.integers(2)) * 6))
    for seed in range(5):
        check_world(hasty, seed=seed, steps=20)
        check_mind(Walker(), hasty, seed=seed, steps=20)


@pytest.mark.parametrize("name", BROKEN_MINDS)
def test_broken_minds_are_told_what_is_broken(name: str) -> None:
    mind, message = BROKEN_MINDS[name]
    with pytest.raises(ConformanceError, match=message) as told:
        check_mind(mind, Plank(), agent="Ben")
    assert str(told.value).count("\n") == 0


def test_a_mind_that_keeps_its_promises_in_either_seat_and_on_given_observations() -> None:
    for agent in ("Ana", "Ben"):
        check_mind(Walker(), Plank(), agent=agent)
    check_mind(Walker(), Plank(), partners={"Ben": Walker()})
    check_mind(Walker(), [(0, 1), (1, 2), (2, 0)])
    check_mind(Walker(), type("Tuple", (Plank, tuple), {})())
    nowhere: tuple[Any, ...] = ([], broken(done=lambda self, state: True))
    for nothing in nowhere:
        with pytest.raises(ValueError, match="nothing for the mind to observe"):
            check_mind(Walker(), nothing)


def test_others_are_played_by_their_minds() -> None:
    happened: list[Any] = []

    class Noting(Plank):
        def step(self, state: Any, joint: Any, rng: np.random.Generator, /) -> Any:
            happened.append(joint["Ben"])
            return Plank.step(self, state, joint, rng)

    class Still(Walker):
        def act(self) -> Any:
            return Categorical.uniform(["stay"])

    check_mind(Walker(), Noting(), partners={"Ben": Still()})
    assert happened == ["stay"] * 100


def test_lapses_may_be_allowed() -> None:
    class Lapsing(Walker):
        def act(self) -> Any:
            return Said({"stay": 0.99, "fly": 0.01}, "stay")

    check_mind(Lapsing(), Plank(), lapse=0.011)
    with pytest.raises(ConformanceError, match=r"0\.99 of 1 is on what may be done"):
        check_mind(Lapsing(), Plank(), lapse=0.009)


@pytest.mark.parametrize("name", BROKEN_GOALS)
def test_broken_goals_are_told_what_is_broken(name: str) -> None:
    mind, message = BROKEN_GOALS[name]
    with pytest.raises(ConformanceError, match=message) as told:
        check_goal_directed(mind, Plank(), agent="Ben")
    assert str(told.value).count("\n") == 0


@pytest.mark.parametrize("name", BROKEN_MESSAGES)
def test_broken_messages_are_told_what_is_broken(name: str) -> None:
    broken_messages, message = BROKEN_MESSAGES[name]
    with pytest.raises(ConformanceError, match=message) as told:
        check_messages(broken_messages, OPEN, GOERS)
    assert str(told.value).count("\n") == 0


@pytest.mark.slow
def test_goals_and_messages_that_keep_their_promises() -> None:
    check_goal_directed(Wanting(), Plank(), agent="Ben")
    for agent, mind in GOERS.items():
        check_goal_directed(mind, OPEN, agent=agent)
    for seed in range(2):
        check_messages(messages(), OPEN, GOERS, seed=seed)


def test_messages_leave_the_state_alone_and_are_checked_with_a_mind_for_everybody() -> None:
    with pytest.raises(ConformanceError, match=r"Broken\.effort: it changed the state"):
        check_messages(messages(effort=changing), boards(), GOERS)
    with pytest.raises(ConformanceError, match="minds: there is none for Ben"):
        check_messages(messages(), OPEN, {"Ana": GOERS["Ana"]})


def test_exceptions_of_messages_come_through() -> None:
    def faulty(self: Any, state: Any, message: Any) -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        check_messages(messages(COME, effort=faulty), OPEN, GOERS)


@pytest.mark.parametrize("name", BROKEN_PLAYERS)
def test_broken_players_are_told_what_is_broken(name: str) -> None:
    subject, message = BROKEN_PLAYERS[name]
    with pytest.raises(ConformanceError, match=message) as told:
        check_mindreader(subject, IPD)
    assert str(told.value).count("\n") == 0


def test_a_player_that_keeps_its_promises() -> None:
    check_mindreader(Copycat(), IPD)


def test_players_are_shown_what_they_did_and_what_that_paid() -> None:
    class Insistent(Copycat):
        def observe(self, outcome: Any, /) -> Any:
            assert outcome is None or outcome == (1, outcome.theirs, IPD.payoff()[1, outcome.theirs])
            return self

        def act(self) -> Any:
            return Categorical.uniform([1])

    check_mindreader(Insistent(), IPD)


def test_what_the_checked_code_raises_comes_through() -> None:
    class Faulty(Copycat):
        def act(self) -> Any:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        check_mindreader(Faulty(), IPD)


@pytest.mark.slow
def test_one_who_acts_by_its_word_is_hardly_ever_lost_sight_of() -> None:
    """The bound of the check: a likelihood ratio against the truth exceeds 10⁶ once in 10⁶ rollouts at the most."""
    for seed in range(40):
        check_mind(Walker(), Plank(), seed=seed)


# What is told about it


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_pages_run_and_print_what_they_show(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / page).read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    blocks = re.findall(r"^```(python|text)\n(.*?)^```$", text, re.M | re.S)
    assert blocks
    printed = ""
    for kind, block in blocks:
        if kind == "text":
            assert printed == block
            continue
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(block, page, "exec", dont_inherit=True), names)
        printed = out.getvalue()


def test_the_citation_has_the_form_that_it_says() -> None:
    yaml = pytest.importorskip("yaml")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert cited["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "version", "license"} <= cited.keys()
    assert re.search(rf'^__version__ = "{cited["version"]}"$', (ROOT / "src/otherminds/__init__.py").read_text(), re.M)
    papers = cited["references"]
    assert [paper["type"] for paper in papers] == ["article"] * 4
    for paper in papers:
        assert paper["title"]
        assert all(author.keys() == {"given-names", "family-names"} for author in paper["authors"])
