"""Hypothetical Minds in the thirty scenarios: is the partner predicted, and is that put to use?

Every meeting is a row: what was expected of the partner, what it played, what that paid, and what the best reply to
the partner's true strategy would have been worth. Bodies are scripted, so scores compare within this suite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from otherminds.errors import InputError
from otherminds.evaluation.run import stream
from otherminds.experiments.functional_models import Counting, Estimate
from otherminds.experiments.hypothetical_models import AGENTS, SWEEP, Speaker, of_calls, spoken
from otherminds.experiments.hypothetical_seats import SEATS, best_against
from otherminds.experiments.melting_pot import COOKS, NORMED, background
from otherminds.language.model import LanguageModel, Usage
from otherminds.minds.chef import semi_skilled
from otherminds.minds.matrix_strategies import play_of
from otherminds.minds.scenarios import Scenario, bot, draw, scenario, scenarios
from otherminds.systems.hypothetical import Hypothetical, Lesson
from otherminds.systems.hypothetical_cook import HypotheticalCook
from otherminds.systems.verbal.askers import Asker, plain
from otherminds.systems.verbal.thinkers import straight
from otherminds.world import rollout
from otherminds.worlds.cooking_files import cooking_asymmetric
from otherminds.worlds.in_the_matrix import InTheMatrix
from otherminds.worlds.matrix_files import in_the_matrix

EXPERIMENT = "hypothetical"
SUBJECTS = tuple(SEATS)
COOKING = ("programs", "random")
SHOWN, LONGEST = 4, 200

Row = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """One episode of a scenario with an agent; with a language model if one is named."""

    scenario: str
    agent: str
    number: int
    seed: int
    model: str = ""

    @property
    def subject(self) -> str:
        """The agent, and its model if it has one."""
        return f"lm:{self.model.replace(':', '-')}:{self.agent}" if self.model else self.agent

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it apart in the rows."""
        return (self.scenario, self.subject, str(self.number))

    @property
    def cooks(self) -> bool:
        """Whether it is in a kitchen."""
        return scenario(self.scenario).substrate.startswith("cooking")


def plan(
    episodes: int, seed: int, agents: Sequence[str] = SUBJECTS, only: str | None = None, model: str = ""
) -> list[Entry]:
    """So many episodes of every scenario, or of one, with every agent; in kitchens, with those who can cook.

    Raises InputError for a scenario or an agent that there is not.
    """
    chosen = [scenario(only)] if only else [one for one in scenarios() if one.upstream]
    for agent in agents:
        _checked(agent, model)
    found = [Entry(one.id, agent, n, seed, model) for one in chosen for agent in agents for n in range(episodes)]
    return [entry for entry in found if not entry.cooks or (not model and entry.agent in COOKING)]


def _checked(agent: str, model: str) -> None:
    if model:
        Speaker.parse(agent)
    elif agent not in SEATS:
        raise InputError(
            f"there is no agent `{plain(agent)[:60]}`", hint=f"one of {', '.join(SEATS)}; others want --model"
        )


SMALL = ("rws_repeated_6", "pd_repeated_3", "rws_arena_0", "cooking_asymmetric_0")
SPOKEN: Mapping[str, Sequence[str]] = {"quick": ("HM",), "normal": ("HM",), "full": (*AGENTS, *SWEEP)}


def spoken_plan(
    scale: str, episodes: int, seed: int, model: str, agents: Sequence[str] = (), only: str | None = None
) -> list[Entry]:
    """What a language model is to play: by default Hypothetical Minds in all scenarios, or in one of each world.

    Raises InputError for a scenario or an agent that there is not.
    """
    found = plan(episodes, seed, agents or SPOKEN[scale], only, model)
    return [entry for entry in found if only or scale != "quick" or entry.scenario in SMALL]


def estimate(entries: Sequence[Entry]) -> Estimate:
    """What a plan will take, found by playing an episode of every agent in every world with a program."""
    played: dict[tuple[str, str], Counting] = {}
    total = Estimate(0, Usage())
    for entry in entries:
        about = (scenario(entry.scenario).substrate, entry.agent)
        if about not in played:
            played[about] = Counting(straight)
            rows(entry, played[about])
        one = played[about]
        total = Estimate(total.calls + one.calls, total.usage + one.usage)
    return total


# Episodes


def rows(entry: Entry, model: LanguageModel | None = None) -> list[Row]:
    """Play an episode: a row for every meeting, and a last one with the score."""
    rng, chosen = stream(entry.seed, *entry.key), scenario(entry.scenario)
    if entry.cooks:
        return [_about(entry) | _cooked(entry, chosen, rng)]
    world = in_the_matrix(chosen.substrate)
    me, *others = world.agents
    names = draw(chosen, len(others), rng)
    minds: dict[str, Any] = {a: background(world, a, bot(n), rng) for a, n in zip(others, names, strict=True)}
    minds[me] = _seated(entry, world, names, rng, model)
    played = _play(world, minds, rng)
    lessons = played.mind.lessons if isinstance(played.mind, Hypothetical) else ()
    best = [best_against(world, name) for name in names]
    found = [
        _about(entry) | _meeting(met, lesson, best, world.rules.reward(met.own, met.theirs)[0])
        for met, lesson in zip_longest(played.meetings, lessons[: len(played.meetings)])
    ]
    last = {"steps": played.steps, "reward": played.reward, "meetings": len(found), "bots": list(names)}
    calls = of_calls(played.mind) if model else {}
    return [*found, _about(entry) | last | {"score": played.reward * NORMED / played.steps} | calls]


def _seated(
    entry: Entry, world: InTheMatrix, names: Sequence[str], rng: np.random.Generator, model: LanguageModel | None
) -> Any:
    me = world.agents[0]
    if model is None:
        return SEATS[entry.agent](world, me, names, rng)
    return spoken(Speaker.parse(entry.agent), world, me, Asker(model, " ".join(entry.key), entry.seed), rng)


def _about(entry: Entry) -> Row:
    condition, subject, episode = entry.key
    about = {"schema": 1, "experiment": EXPERIMENT, "condition": condition, "subject": subject}
    return about | {"seed": entry.seed, "episode": episode}


def _meeting(met: Met, lesson: Lesson | None, best: Sequence[float | None], reward: float) -> Row:
    """What a meeting was, and what had been expected of it; there is no lesson for those who learn nothing."""
    play = play_of(met.theirs)
    found: Row = {"t": met.t, "partner": met.partner, "own": met.own, "theirs": met.theirs, "reward": reward}
    value = best[met.partner - 1]
    if value is not None:
        found["regret"] = value - reward
    if lesson is not None:
        found |= {"expected": [p for _, p in sorted(lesson.expected)], "inferred": lesson.theirs}
        found["hypotheses"] = [(text[:LONGEST], round(value, 4)) for text, value in lesson.theory.held[:SHOWN]]
        if play is not None and lesson.partner is not None:
            found["correct"] = lesson.expected.mode == play
    return found


def _cooked(entry: Entry, chosen: Scenario, rng: np.random.Generator) -> Row:
    world, names = cooking_asymmetric(), draw(chosen, 1, rng)
    me, other = world.agents
    cook = HypotheticalCook.born(world) if entry.agent == "programs" else semi_skilled(world, slip=1.0)
    minds: dict[str, Any] = {me: cook, other: COOKS[bot(names[0]).rule](world)}
    reward = sum(step.after.rewards[0] for step in rollout(world, minds, steps=world.steps, rng=rng))
    last = {"steps": world.steps, "reward": reward, "meetings": round(reward / world.pay), "bots": list(names)}
    return last | {"score": reward}


class Met(NamedTuple):
    """A meeting as it was: when, with whom, and what both held."""

    t: int
    partner: int
    own: tuple[int, ...]
    theirs: tuple[int, ...]


class Played(NamedTuple):
    """An episode of the first player: its meetings, what it was paid, how long it took, and its mind at the end."""

    meetings: list[Met]
    reward: float
    steps: int
    mind: Any


def _play(world: InTheMatrix, minds: dict[str, Any], rng: np.random.Generator) -> Played:
    """Play until the end."""
    me, state, met, reward = world.agents[0], world.start(rng), list[Met](), 0.0
    minds = {agent: mind.observe(world.observe(state, agent)) for agent, mind in minds.items()}
    while not world.done(state):
        state = world.step(state, {agent: mind.act().sample(rng) for agent, mind in minds.items()}, rng)
        minds = {agent: mind.observe(world.observe(state, agent)) for agent, mind in minds.items()}
        reward += state.rewards[0]
        if state.met[0] is not None:
            partner = next(j for j, meeting in enumerate(state.met) if j and meeting == state.met[0][::-1])
            met.append(Met(state.t, partner, *state.met[0]))
    return Played(met, reward, state.t, minds[me])
