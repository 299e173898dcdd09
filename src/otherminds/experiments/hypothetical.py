"""Hypothetical Minds in the thirty scenarios: is the partner predicted, and is that put to use?

Every meeting is a row: what was expected of the partner, what it played, what that paid, and what the best reply to
the partner's true strategy would have been worth. Bodies are scripted, so scores compare within this suite.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from otherminds.evaluation.run import stream
from otherminds.evaluation.statistics import Estimate, mean, ratio
from otherminds.experiments.melting_pot import COOKS, ENOUGH, NORMED, background
from otherminds.experiments.results import NORMAL
from otherminds.minds.chef import semi_skilled
from otherminds.minds.gatherer import DEFT, WALKER, Gatherer
from otherminds.minds.hypotheses import families, library
from otherminds.minds.librarian import Librarian, closed
from otherminds.minds.matrix_strategies import Aim, CounterPrevious, Specialist, Whim, play_of
from otherminds.minds.meetings import MARGIN, machine, meeting_game
from otherminds.minds.scenarios import Scenario, bot, draw, scenario, scenarios
from otherminds.minds.strategies import Machine
from otherminds.planning.response import best_rate
from otherminds.systems.hypothetical import Hypothetical, Lesson, Theory
from otherminds.systems.hypothetical_cook import HypotheticalCook
from otherminds.world import rollout
from otherminds.worlds.cooking_files import cooking_asymmetric
from otherminds.worlds.in_the_matrix import InTheMatrix
from otherminds.worlds.matrix_files import in_the_matrix

EXPERIMENT = "hypothetical"
SUBJECTS = ("programs", "stranger", "informed", "last_play", "uniform", "random")
"""Program hypotheses; those without the partner's; who knows the partner; who answers the last play; able bodies that
play anything; and who walks about at random."""
THRESHOLD, ALPHA = 0.7, 0.3
SHOWN = 4
SOURCE = "Cross et al. 2024, Table 1: HM with GPT-4, against neural bodies"

Row = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """One episode of a scenario with an agent."""

    scenario: str
    subject: str
    number: int
    seed: int

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it apart in the rows."""
        return (self.scenario, self.subject, str(self.number))


def plan(episodes: int, seed: int, subjects: Sequence[str] = SUBJECTS, only: str | None = None) -> list[Entry]:
    """So many episodes of every scenario, or of one, with every agent."""
    chosen = [scenario(only)] if only else [one for one in scenarios() if one.upstream]
    return [
        Entry(one.id, subject, n, seed)
        for one in chosen
        for subject in subjects
        if not one.substrate.startswith("cooking") or subject in ("programs", "random")
        for n in range(episodes)
    ]


# Who plays


def _programs(world: InTheMatrix, me: str, names: Sequence[str], rng: np.random.Generator) -> Hypothetical:
    return Hypothetical.born(world, me, Librarian.of(library(world.rules)), rng)


def _stranger(world: InTheMatrix, me: str, names: Sequence[str], rng: np.random.Generator) -> Hypothetical:
    return Hypothetical.born(world, me, Librarian.of(library(world.rules, without=_like(world, names))), rng)


def _informed(world: InTheMatrix, me: str, names: Sequence[str], rng: np.random.Generator) -> Hypothetical:
    game = meeting_game(world.rules)
    known = [Librarian.of(closed(game, [true])) if (true := _true(world, name)) else None for name in names]
    prior = Librarian.of(library(world.rules))
    return Hypothetical.born(world, me, prior, rng, theories=(prior, *(theory or prior for theory in known)))


def _last_play(world: InTheMatrix, me: str, names: Sequence[str], rng: np.random.Generator) -> Gatherer:
    payoff, kinds = meeting_game(world.rules).payoff(), range(len(world.rules.resources))
    replies = tuple(Aim(int(payoff[:, kind].argmax()), MARGIN) for kind in kinds)
    return Gatherer.born(world, me, CounterPrevious(replies), rng, DEFT)


def _uniform(world: InTheMatrix, me: str, names: Sequence[str], rng: np.random.Generator) -> Gatherer:
    aims = tuple(Aim(kind, MARGIN) for kind in range(len(world.rules.resources)))
    return Gatherer.born(world, me, Whim(aims), rng, DEFT)


def _random(world: InTheMatrix, me: str, names: Sequence[str], rng: np.random.Generator) -> Gatherer:
    return Gatherer.born(world, me, Specialist(Aim(0, MARGIN)), rng, WALKER)


SEATS: Mapping[str, Callable[[InTheMatrix, str, Sequence[str], np.random.Generator], Hypothetical | Gatherer]] = {
    "programs": _programs,
    "stranger": _stranger,
    "informed": _informed,
    "last_play": _last_play,
    "uniform": _uniform,
    "random": _random,
}


@cache
def _true(world: InTheMatrix, name: str) -> Machine | None:
    """The machine that a bot plays by; None if it has no strategy."""
    strategy = bot(name).strategy
    return None if strategy is None else machine(name, strategy, meeting_game(world.rules))


def _like(world: InTheMatrix, names: Sequence[str]) -> list[str]:
    """The hypotheses that play just as one of these bots does."""
    true = [(found.outputs, found.moves) for found in (_true(world, name) for name in names) if found is not None]
    held = [pair for family in families(world.rules).values() for pair in family]
    machines = [machine(name, strategy, meeting_game(world.rules)) for name, strategy in held]
    return [one.name for one in machines if (one.outputs, one.moves) in true]


def _best(world: InTheMatrix, name: str) -> float | None:
    """What the best policy against a bot gets a meeting, if it is known how the bot plays."""
    true = _true(world, name)
    return None if true is None else best_rate(meeting_game(world.rules).payoff(), true.chances)


# Episodes


def rows(entry: Entry) -> list[Row]:
    """Play an episode: a row for every meeting, and a last one with the score."""
    rng, chosen = stream(entry.seed, *entry.key), scenario(entry.scenario)
    if chosen.substrate.startswith("cooking"):
        return [_about(entry) | _cooked(entry, chosen, rng)]
    world = in_the_matrix(chosen.substrate)
    me, *others = world.agents
    names = draw(chosen, len(others), rng)
    minds: dict[str, Any] = {a: background(world, a, bot(n), rng) for a, n in zip(others, names, strict=True)}
    minds[me] = SEATS[entry.subject](world, me, names, rng)
    meetings, reward, steps, lessons = _play(world, minds, rng)
    best = [_best(world, name) for name in names]
    found = [
        _about(entry) | _meeting(met, lesson, best, world.rules.reward(met.own, met.theirs)[0])
        for met, lesson in zip_longest(meetings, lessons[: len(meetings)])
    ]
    last = {"steps": steps, "reward": reward, "meetings": len(meetings), "bots": list(names)}
    return [*found, _about(entry) | last | {"score": reward * NORMED / steps}]


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
        found["hypotheses"] = _likeliest(lesson.theory)
        if play is not None:
            found["correct"] = lesson.expected.mode == play
    return found


def _likeliest(theory: Theory) -> list[tuple[str, float]]:
    """The hypotheses that a theory holds likeliest, if it has any."""
    if not isinstance(theory, Librarian):
        return []
    posterior = theory.watched.ask(lambda partner: partner.machine.name.partition("~")[0])
    return sorted(((name, round(p, 4)) for name, p in posterior), key=lambda pair: -pair[1])[:SHOWN]


def _cooked(entry: Entry, chosen: Scenario, rng: np.random.Generator) -> Row:
    world, names = cooking_asymmetric(), draw(chosen, 1, rng)
    me, other = world.agents
    cook = HypotheticalCook.born(world) if entry.subject == "programs" else semi_skilled(world, slip=1.0)
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


def _play(
    world: InTheMatrix, minds: dict[str, Any], rng: np.random.Generator
) -> tuple[list[Met], float, int, tuple[Lesson, ...]]:
    """Play until the end: the meetings of the first player, its reward, the steps, and what it has learnt if it did."""
    me, state, met, reward = world.agents[0], world.start(rng), list[Met](), 0.0
    minds = {agent: mind.observe(world.observe(state, agent)) for agent, mind in minds.items()}
    while not world.done(state):
        state = world.step(state, {agent: mind.act().sample(rng) for agent, mind in minds.items()}, rng)
        minds = {agent: mind.observe(world.observe(state, agent)) for agent, mind in minds.items()}
        reward += state.rewards[0]
        if state.met[0] is not None:
            partner = next(j for j, meeting in enumerate(state.met) if j and meeting == state.met[0][::-1])
            met.append(Met(state.t, partner, *state.met[0]))
    return met, reward, state.t, getattr(minds[me], "lessons", ())


# Scores


def summarise(found: Sequence[Row]) -> Iterator[Row]:
    """Scores a 1200 steps, literal accuracy (also once validated), and functional regret a meeting, with intervals.

    A theory is validated when the Rescorla–Wagner value of its predictions, V ← V + α (±1 − V), is at the threshold.
    """
    scores: dict[tuple[str, str], float] = {}
    for condition, subject in dict.fromkeys((row["condition"], row["subject"]) for row in found):
        mine = [row for row in found if (row["condition"], row["subject"]) == (condition, subject)]
        for metric, value in _metrics(mine).items():
            if metric == "score":
                scores[condition, subject] = value.value
            yield _row(condition, subject, metric, value)
    episodes = {row["episode"] for row in found if row["subject"] == "programs"}
    yield from _compared(scores, enough=len(episodes) >= ENOUGH)


def _row(condition: str, subject: str, metric: str, value: Estimate) -> Row:
    about = {"experiment": EXPERIMENT, "condition": condition, "subject": subject, "metric": metric}
    row: Row = {**about, **value._asdict()}
    if (subject, metric) == ("programs", "score") and condition in published():
        mean_, error = published()[condition]["hm"]
        row |= {"published": mean_, "published_low": mean_ - NORMAL * error, "published_high": mean_ + NORMAL * error}
        row["source"] = SOURCE
    return row


def _compared(scores: Mapping[tuple[str, str], float], *, enough: bool) -> Iterator[Row]:
    """In how many scenarios program hypotheses do at least as well as published, if there are enough episodes to tell;
    and what share they get of the score of who is told the partner's strategy.
    """
    mine = {c: score for (c, subject), score in scores.items() if subject == "programs" and c in published()}
    for group in ("all", "rws_arena"):
        chosen = [condition for condition in mine if group in ("all", condition.rpartition("_")[0])]
        if chosen and enough:
            above = [mine[condition] >= published()[condition]["hm"][0] for condition in chosen]
            yield _row(
                group, "programs", "at_least_published", Estimate(sum(above), sum(above), sum(above), len(above))
            )
    for condition, score in mine.items():
        if scores.get((condition, "informed"), 0.0) > 0.0:
            share = score / scores[condition, "informed"]
            yield _row(condition, "programs", "of_informed", Estimate(share, share, share, 1))


@cache
def published() -> Mapping[str, Mapping[str, tuple[float, float]]]:
    """The paper's Table 1: a mean and its standard error for each agent, by scenario."""
    text = (resources.files("otherminds.experiments") / "hypothetical_minds.toml").read_text("utf-8")
    return {
        condition: {agent: (pair[0], pair[1]) for agent, pair in row.items()}
        for condition, row in tomllib.loads(text).items()
    }


def _metrics(mine: Sequence[Row]) -> dict[str, Estimate]:
    ends = [row for row in mine if "score" in row]
    found = {name: mean([float(row[name]) for row in ends]) for name in ("score", "reward", "steps", "meetings")}
    if any(row["meetings"] for row in ends):
        found["per_meeting"] = ratio([row["reward"] for row in ends], [row["meetings"] for row in ends])
    for metric, column in (("regret", "regret"), ("literal", "correct")):
        rows = [row for row in mine if column in row]
        if rows:
            found[metric] = mean([float(row[column]) for row in rows], [row["episode"] for row in rows])
    checked = [(row, valid) for row, valid in validated(mine) if "correct" in row]
    if any(valid for _, valid in checked):
        rows = [row for row, valid in checked if valid]
        found["literal_validated"] = mean([float(row["correct"]) for row in rows], [row["episode"] for row in rows])
        found["validated"] = mean([float(valid) for _, valid in checked], [row["episode"] for row, _ in checked])
    return found


def validated(rows: Sequence[Row]) -> Iterator[tuple[Row, bool]]:
    """Every meeting, and whether the theory of this partner had been validated before it."""
    values: dict[tuple[str, int], float] = {}
    for row in rows:
        if "partner" in row:
            key = (row["episode"], row["partner"])
            value = values.get(key, 0.0)
            yield row, value >= THRESHOLD
            if "correct" in row:
                values[key] = value + ALPHA * ((1.0 if row["correct"] else -1.0) - value)
