"""Suggestions for any world, forecast by running minds forward in it."""

from __future__ import annotations

import contextlib
import io
import math
import runpy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator

from cooks import cook
from kitchens import kitchen
from otherminds.distribution import Categorical, Distribution, point_mass
from otherminds.errors import InputError
from otherminds.mind import NoneOfThese, WithErrand, without_finished_errand
from otherminds.papers.protom.episodes import FacilitatedEpisode
from otherminds.papers.protom.facilitator import ProToM, with_none_of_these
from otherminds.papers.protom.messages import LONGEST, RolledOutMessages, Suggestion
from otherminds.planning.rational import RationalAgent
from otherminds.testing import check_goal_directed, check_messages
from otherminds.worlds.doors_keys_gems.advice import DoorsKeysGemsAdvice
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.level_files import bundled_levels
from otherminds.worlds.doors_keys_gems.planner import Goal
from otherminds.worlds.overcooked.advice import OvercookedAdvice
from paths import ROOT
from strategies import generator

Positions = tuple[int, int, int]  # of Ana and Ben, and a clock


@dataclass(frozen=True)
class Ring:
    """Two agents on a ring of cells. Each moves as it likes, unless it slips. A clock may run, and end the episode."""

    size: int
    has_clock: bool = False
    slips: float = 0.0
    end: int = 1_000_000
    agents: tuple[str, ...] = ("Ana", "Ben")

    def start(self, rng: Generator, /) -> Positions:
        return 0, 0, 0

    def actions(self, state: Positions, agent: str) -> tuple[int, ...]:
        return tuple(range(self.size))

    def step(self, state: Positions, joint: Any, rng: Generator, /) -> Positions:
        moving = [not self.slips or rng.random() >= self.slips for _ in self.agents]
        ana, ben = ((state[i] + joint[agent] * moving[i]) % self.size for i, agent in enumerate(self.agents))
        return ana, ben, state[2] + self.has_clock

    def observe(self, state: Positions, agent: str) -> Positions:
        return state

    def reward(self, state: Positions, joint: Any, after: Positions) -> dict[str, float]:
        return dict.fromkeys(self.agents, 0.0)

    def done(self, state: Positions) -> bool:
        return state[2] >= self.end

    def passive(self, state: Positions, agent: str) -> int:
        return 0


@dataclass(frozen=True)
class Mover:
    """Moves by the same number of cells in each step until it is in its goal's cell."""

    i: int
    goal: int
    stride: int = 1
    state: Positions | None = None
    particle: int = 0

    def observe(self, obs: Any, /) -> Mover:
        return replace(self, state=obs)

    def act(self) -> Distribution[int]:
        return Categorical.from_scores([(0, -1.0), (0 if self.reached else self.stride, 1.0)])

    @property
    def reached(self) -> bool:
        return self.state is not None and self.state[self.i] == self.goal

    @property
    def over(self) -> bool:
        return self.reached


class Wanderer(Mover):
    """Draws its steps from a policy that is no table."""

    def act(self) -> Distribution[int]:
        return Drawn()


class Drawn:
    """One step ahead or none, by the toss of a coin."""

    def log_prob(self, x: int, /) -> float:
        return -0.6931471805599453

    def sample(self, rng: Generator, /) -> int:
        return int(rng.integers(2))


def naive(world: Ring, state: Positions, minds: Sequence[Any], horizon: int) -> tuple[int, ...]:
    """Steps until each agent is done, without any shortcut."""
    steps: list[int | None] = [None, None]
    for t in range(horizon + 1):
        minds = [without_finished_errand(mind.observe(state)) for mind in minds]
        steps = [t if n is None and mind.reached else n for n, mind in zip(steps, minds, strict=True)]
        if t == horizon or world.done(state):
            break
        joint = {agent: mind.act().mode for agent, mind in zip(world.agents, minds, strict=True)}
        state = world.step(state, joint, generator())
    return tuple(horizon if n is None else n for n in steps)


cells = st.integers(0, 5)
movers = st.tuples(cells, cells)


@pytest.mark.slow
@given(st.booleans(), st.sampled_from((4, 9, 10**6)), st.lists(st.tuples(movers, movers, movers, st.integers(0, 12))))
def test_forecasts_are_rollouts_whatever_was_forecast_before(has_clock: bool, end: int, questions: list[Any]) -> None:
    """Also with errands, for goals that are never reached, and with other horizons before."""
    world = Ring(6, has_clock, end=end)
    messages = RolledOutMessages(world, ())
    for ana, ben, errand, horizon in questions:
        state = (0, 0, 0)
        candidates: list[Any] = [Mover(0, *ana), WithErrand(Mover(0, *ana), Mover(0, *errand))]
        for i, mind in enumerate(candidates):
            minds = [mind.observe(state), Mover(1, *ben).observe(state)]
            assert messages.finish(state, minds, horizon + i) == naive(world, state, minds, horizon + i)


def test_what_repeats_itself_never_ends_and_is_noticed_at_once() -> None:
    state = (0, 0, 0)
    minds = [Mover(0, goal=3, stride=2).observe(state), Mover(1, 0).observe(state)]
    assert RolledOutMessages(Ring(6), ()).finish(state, minds, 1_000_000) == (1_000_000, 0)


@pytest.mark.slow
def test_chance_is_averaged_and_all_messages_meet_the_same() -> None:
    """The third step that does not slip ends it: 3 / (1 − p) steps on average."""
    world, state = Ring(6, slips=0.5), (0, 0, 0)
    messages = RolledOutMessages(world, (), rollouts=200)
    minds = [Mover(0, 3).observe(state), Mover(1, 0).observe(state)]
    assert messages.finish(state, minds, 80)[0] == pytest.approx(6, abs=1)
    assert messages.finish(state, minds, 80) == RolledOutMessages(world, (), rollouts=200).finish(state, minds, 80)
    assert messages.finish(state, minds, 4)[0] == 4
    swift = [Mover(0, 3, stride=3).observe(state), minds[1]]
    assert messages.finish(state, swift, 80)[0] == 2
    drawn = [Wanderer(0, 3).observe(state), Mover(1, 0).observe(state)]
    assert RolledOutMessages(Ring(6), (), rollouts=200).finish(state, drawn, 80)[0] == pytest.approx(6, abs=1)


def test_suggestions_are_for_agents_of_the_world() -> None:
    for agents in (("Cem", "Ana"), ("Ana", "bEn")):
        with pytest.raises(InputError, match=r"there is no agent `(Cem|bEn)`"):
            RolledOutMessages(Ring(6), [Suggestion(*agents, Mover(0, 1), "move")])


def test_suggestions_are_a_list_and_have_minds_for_errands() -> None:
    press: Any = Suggestion("Ben", "Ana", Mover(1, 2), "press the switch")
    with pytest.raises(InputError, match=r"a single suggestion is no list of them \(write \[suggestion\]\)"):
        RolledOutMessages(Ring(6), press)
    with pytest.raises(
        InputError, match=r"the errand `switch` of a suggestion is no mind \(give a mind of Ben, such as"
    ):
        RolledOutMessages(Ring(6), [replace(press, errand="switch")])
    assert RolledOutMessages(Ring(6), (item for item in [press])).suggestions == (press,)  # type: ignore[arg-type]


# A gate that somebody else can open


@pytest.fixture(scope="module")
def gate() -> dict[str, Any]:
    """The names of the example."""
    with contextlib.redirect_stdout(io.StringIO()):
        return runpy.run_path(str(ROOT / "examples" / "gate_and_switch.py"))


@pytest.mark.slow
def test_one_agent_is_forecast_to_gain_by_the_errand_of_another(gate: dict[str, Any]) -> None:
    house, messages = gate["house"], gate["messages"]
    state = house.start(generator())
    (press,) = messages.candidates(state)
    ana, ben = (
        RationalAgent(house, agent, goal).observe(state) for agent, goal in (("Ana", "garden"), ("Ben", "desk"))
    )
    told = WithErrand(ben, messages.errand(state, press))
    assert messages.effort(state, press) == 2
    assert messages.finish(state, [ana, ben], 80) == (14, 4)
    assert messages.finish(state, [ana, told], 80) == (8, 8)
    stranger = NoneOfThese(ben)
    assert messages.finish(state, [ana, stranger], 80) == (14, 0)
    assert messages.finish(state, [ana, WithErrand(stranger, told.errand)], 80) == (8, 0)
    assert messages.finish(state, [ana, told], 3) == (3, 3)
    opened = (*state[:2], True)
    assert (messages.status(opened, press), messages.candidates(opened)) == ("completed", [])


@pytest.mark.slow
def test_a_suggestion_that_its_helper_cannot_follow_is_not_made(gate: dict[str, Any]) -> None:
    house = gate["house"]
    state = house.start(generator())
    ben: RationalAgent[Any, Any] = RationalAgent(house, "Ben", "kitchen")
    come = Suggestion("Ben", "Ana", ben, "come to the kitchen")
    messages = RolledOutMessages(house, [come])
    assert (messages.status(state, come), messages.candidates(state)) == ("impossible", [])
    assert messages.effort(state, come) == LONGEST


class Dark:
    """The house of the example, where agents see only their own cell and whether the gate is open."""

    def __init__(self, house: Any) -> None:
        self.agents, self.house = house.agents, house

    def __getattr__(self, name: str) -> Any:
        return getattr(self.house, name)

    def observe(self, state: Any, agent: str) -> Any:
        return state[self.agents.index(agent)], state[2]


def play(house: Any, minds: Any, people: Any, *, told_actions: bool = False) -> tuple[int, list[str]]:
    """The steps of an episode with ProToM, which considers these minds of each agent, and its messages."""
    switch = Suggestion("Ben", "Ana", minds["Ben"][-1], "press the switch")
    listed = {agent: minds[agent][:2] for agent in house.agents}
    watchers = {
        agent: with_none_of_these(listed[agent], world=house if told_actions else None, agent=agent)
        for agent in house.agents
    }
    messages = RolledOutMessages(house, [switch])
    facilitator = ProToM.initial(house, messages, watchers, house.start(generator()))
    episode = FacilitatedEpisode(house, people, facilitator, messages, 40, generator(1), generator(2))
    moments = list(episode)
    return len(moments), [moment.decision.words for moment in moments if moment.decision.message is not None]


GOALS = {"Ana": ("garden", "kitchen"), "Ben": ("desk", "sofa", "switch")}


@pytest.mark.slow
def test_people_who_do_not_see_each_other_are_helped(gate: dict[str, Any]) -> None:
    """Each expects that the other may do anything, so that the gate may come to be open."""
    dark, ways, cells = Dark(gate["house"]), gate["WAYS"], gate["CELLS"]

    def legal(view: Any) -> tuple[str, ...]:
        return tuple(way for way, offset in ways.items() if cells[view[0] + offset] not in ("#" if view[1] else "#|"))

    nobody: Any = Mover(0, 0)
    anybody = NoneOfThese(nobody, legal)
    others = {"Ana": {"Ben": anybody}, "Ben": {"Ana": anybody}}
    minds = {a: [RationalAgent(dark, a, g, others=others[a]) for g in goals] for a, goals in GOALS.items()}
    people = {a: RationalAgent(dark, a, goals[0], math.inf, others=others[a]) for a, goals in GOALS.items()}
    steps, words = play(dark, minds, people)
    assert steps < 14
    assert [sentence.split(".")[0] for sentence in words] == ["Ben, please press the switch"]


@dataclass(frozen=True)
class Decided:
    """Does what is likeliest for another mind, and lists no other action."""

    mind: Any

    def observe(self, obs: Any, /) -> Decided:
        return Decided(self.mind.observe(obs))

    def act(self) -> Categorical[str]:
        return point_mass(self.mind.act().mode)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.mind, name)


@pytest.mark.slow
def test_an_episode_with_decided_minds_goes_on_whatever_people_do(gate: dict[str, Any]) -> None:
    house = gate["house"]
    minds = {a: [Decided(RationalAgent(house, a, g)) for g in goals] for a, goals in GOALS.items()}
    people = {a: RationalAgent(house, a, goals[0], beta=0.3) for a, goals in GOALS.items()}
    with pytest.raises(ValueError, match="none of the 3 minds could have done"):
        play(house, minds, people)
    assert play(house, minds, people, told_actions=True)[0] > 14
    with pytest.raises(InputError, match=r"there is no agent `ana` \(did you mean Ana"):
        with_none_of_these(minds["Ana"], world=house, agent="ana")


@pytest.mark.slow
def test_what_the_library_says_meets_its_own_requirements(gate: dict[str, Any]) -> None:
    for agent, mind in gate["people"].items():
        check_goal_directed(mind, gate["house"], agent=agent, steps=40)
    check_messages(gate["messages"], gate["house"], gate["people"])
    level = next(level for level in bundled_levels() if level.name == "garden-gate")
    advice = DoorsKeysGemsAdvice(level.world)
    seekers = {
        agent: Seeker(advice.planner, i, Goal("gem", level.world.goals[i]))
        for i, agent in enumerate(level.world.agents)
    }
    check_messages(advice, level.world, seekers)
    room = kitchen("-/----", "-1 - t", "*  -2-", "-p----", recipes=("SimpleTomato", "SimpleLettuce"))
    kitchen_advice = OvercookedAdvice(room)
    shared = kitchen_advice.planner, kitchen_advice.sampler
    cooks = {agent: cook(room, room.recipes[i], i, shared) for i, agent in enumerate(room.agents)}
    check_messages(kitchen_advice, room, cooks)


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ({"goal": "tea"}, "I believe Ana's goal is tea, and this should save about 3 steps."),
        ({"goal": "tea", "needed": True}, "I believe Ana's goal is tea, and Ana cannot get there without your help."),
        ({"sure": True, "saves": 1.2}, "Whatever Ana wants, this should save about 1 step."),
        ({"friends": ("Ana", "Cem")}, "I am not sure what Ana and Cem want, but this should save about 3 steps."),
        ({"friends": ("Ben",)}, "This should save you about 3 steps."),
    ],
)
def test_reasons_are_said_as_strongly_as_they_are_believed(reason: dict[str, Any], words: str) -> None:
    press = Suggestion("Ben", "Ana", Mover(1, 2), "press the switch")
    messages = RolledOutMessages(Ring(6), [press])
    default = {"friends": ("Ana",), "goal": None, "sure": False, "needed": False, "saves": 3.1}
    assert messages.explain((0, 0, 0), press, **(default | reason)) == f"Ben, please press the switch. {words}"
    assert messages.address(press) == "Ben: press the switch"


# Against the forecasts that know their world


@pytest.mark.slow
def test_forecasts_agree_with_those_of_doors_keys_gems_up_to_ties() -> None:
    """Candidates and efforts are the same. Where ways are equally short, people may take another and meet elsewhere."""
    agreed = []
    for level in bundled_levels():
        world, state, advice = level.world, level.world.initial, DoorsKeysGemsAdvice(level.world)
        listed = advice.candidates(state)
        messages = RolledOutMessages(
            world,
            [
                Suggestion(
                    advice.helper(item),
                    advice.friend(item),
                    Seeker(advice.planner, item.helper, item.goal),
                    advice.words(item),
                )
                for item in listed
            ],
        )
        assert messages.candidates(state) == list(messages.suggestions)
        seekers = [Seeker(advice.planner, i, Goal("gem", gem)).observe(state) for i, gem in enumerate(world.goals)]
        agreed.append(messages.finish(state, seekers, 80) == advice.finish(state, seekers, 80))
        for item, suggestion in zip(listed, messages.suggestions, strict=True):
            assert messages.effort(state, suggestion) == advice.effort(state, item)
            minds: list[Any] = [*seekers]
            minds[item.helper] = WithErrand(seekers[item.helper], messages.errand(state, suggestion))
            agreed.append(messages.finish(state, minds, 80) == advice.finish(state, minds, 80))
    assert len(agreed) == 128
    assert sum(agreed) >= 118
