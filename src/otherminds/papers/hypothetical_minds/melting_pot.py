"""The matrix and cooking worlds with scripted bodies: calibration of the bodies, and scores in the scenarios.

Calibration: pairs of strategies beside their scores in a prototype with the original strategies. Scenarios: a scripted
focal player meets the thirty background populations on which Hypothetical Minds was evaluated (Cross et al. 2024).
Bodies are scripted, not neural, so scores compare within this suite and not with Melting Pot's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from otherminds.evaluation.engines import stream
from otherminds.evaluation.statistics import Estimate, mean, proportion, ratio, summary_row
from otherminds.evaluation.store import Row, first_columns
from otherminds.reports.matrix_replay import frame
from otherminds.reports.results import beside_published
from otherminds.world import rollout
from otherminds.worlds.collaborative_cooking.bots import CookingBot, IdleBot, semi_skilled
from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking
from otherminds.worlds.in_the_matrix import strategies
from otherminds.worlds.in_the_matrix.bots import DEFT, ORDINARY, SCOUT, WALKER, MatrixBot, Skill
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.scenarios import Bot, bot, draw, scenario, scenarios
from otherminds.worlds.in_the_matrix.strategies import Aim, Strategy
from otherminds.worlds.in_the_matrix.world import InTheMatrix

EXPERIMENT = "melting-pot"
NORMED = 1200  # steps that scores are given for, as in Cross et al. 2024
FILMED = "rws_repeated_0"  # the scenario whose first episode is kept for the report
ENOUGH = 5  # episodes from which on targets are checked; chosen, not tuned
ROCK, PAPER, SCISSORS = range(3)
COOPERATE, DEFECT = range(2)


@dataclass(frozen=True)
class CalibrationCase:
    """A focal strategy (None: a random walk), and the bots from which all other players are drawn."""

    substrate: str
    focal: Strategy | None
    bots: tuple[str, ...]


def _case(substrate: str, focal: Strategy | None, name: str) -> CalibrationCase:
    return CalibrationCase(substrate, focal, (f"{substrate}__{name}",))


def _always(kind: int, margin: int = 5) -> Strategy:
    return strategies.specialist(Aim(kind, margin))


def _aims(*kinds: int) -> tuple[Aim, ...]:
    return tuple(Aim(kind, 5) for kind in kinds)


def _arena(focal: int, number: int) -> CalibrationCase:
    return CalibrationCase("rws_arena", _always(focal), scenario(f"rws_arena_{number}").bots)


CASES: Mapping[str, CalibrationCase] = {
    "paper v rock": _case("rws_repeated", _always(PAPER), "rock_margin_0"),
    "cycle v counter": _case(
        "rws_repeated", strategies.FollowUp(Aim(ROCK, 5), _aims(SCISSORS, ROCK, PAPER)), "resp2prev_margin_0"
    ),
    "paper, rock v flip": _case("rws_repeated", strategies.Script(_aims(PAPER, ROCK)), "flip_r2s_1"),
    "random walk v rock": _case("rws_repeated", None, "rock_margin_0"),
    "defect v cooperator": _case("pd_repeated", _always(DEFECT), "cooperator_margin_0"),
    "defect v defector": _case("pd_repeated", _always(DEFECT), "defector_margin_0"),
    "cooperate v TFT": _case("pd_repeated", _always(COOPERATE), "tft_margin_0"),
    "cooperate (margin 1) v TFT": _case("pd_repeated", _always(COOPERATE, 1), "tft_margin_0"),
    "defect v grim": _case("pd_repeated", _always(DEFECT), "grim_one_strike_margin_0"),
    "DDD, then C v corrigible": _case(
        "pd_repeated", strategies.Script(_aims(DEFECT, DEFECT, DEFECT, COOPERATE)), "corrigible_0"
    ),
    "paper v 7 rock": _arena(PAPER, 6),
    "scissors v 7 paper": _arena(SCISSORS, 5),
    "paper v 7 flipping rock": _arena(PAPER, 2),
}
BODIES: Mapping[str, Skill] = {"egocentric": ORDINARY, "full_information": DEFT}
FOCAL: Mapping[str, Strategy] = {
    "rws_repeated": strategies.CounterPrevious(_aims(PAPER, SCISSORS, ROCK)),
    "rws_arena": strategies.CounterPrevious(_aims(PAPER, SCISSORS, ROCK)),
    "pd_repeated": strategies.TitForTat(Aim(COOPERATE, 5), Aim(DEFECT, 5)),
}

COOKS: Mapping[str, Callable[[CollaborativeCooking], CookingBot | IdleBot]] = {
    "skilled": CookingBot,
    "semi-skilled": semi_skilled,
    "idle": lambda _: IdleBot(),
}


@dataclass(frozen=True)
class MeltingPotEntry:
    """One episode: a calibration case with one kind of body, or a scenario."""

    condition: str
    subject: str
    number: int
    seed: int

    @property
    def key(self) -> tuple[str, str, str]:
        """Its condition, subject and episode in the rows."""
        return (self.condition, self.subject, str(self.number))


def plan(calibrations: int, episodes: int, seed: int) -> list[MeltingPotEntry]:
    """The given numbers of episodes of every calibration case, and of every scenario."""
    entries = []
    for body in BODIES:
        for name, case in CASES.items():
            if body == "egocentric" or (case.substrate != "rws_arena" and case.focal):
                entries += [MeltingPotEntry(f"calibration/{body}", name, n, seed) for n in range(calibrations)]
    return entries + [MeltingPotEntry("scenario", spec.id, n, seed) for spec in scenarios() for n in range(episodes)]


def rows(entry: MeltingPotEntry) -> list[Row]:
    """Play an episode: one row with the focal player's reward, steps, and meetings (or deliveries)."""
    rng = stream(entry.seed, *entry.key)
    if entry.condition == "scenario":
        totals = _scenario_totals(entry, rng)
    else:
        case, world = CASES[entry.subject], in_the_matrix(CASES[entry.subject].substrate)
        body = entry.condition.partition("/")[2]
        if body == "full_information":
            world = replace(world, all_seeing=frozenset(world.agents))
        names = [case.bots[k] for k in rng.integers(len(case.bots), size=len(world.agents) - 1).tolist()]
        totals = _matrix_totals(world, case.focal, names, BODIES[body], NORMED, rng)
    score = totals["reward"] * NORMED / totals["steps"]
    return [first_columns(EXPERIMENT, entry.key, entry.seed) | totals | {"score": score}]


def partners(name: str, slots: int, seed: int, number: int) -> tuple[str, ...]:
    """The bots in an episode of a scenario: the same for all agents."""
    return draw(scenario(name), slots, number, stream(seed, name, "bots"))


def _scenario_totals(entry: MeltingPotEntry, rng: np.random.Generator) -> Row:
    """The totals of one episode of a scenario, played by a calibration bot."""
    substrate = scenario(entry.subject).substrate
    if substrate not in FOCAL:
        names = partners(entry.subject, 1, entry.seed, entry.number)
        kitchen = cooking_asymmetric()
        me, partner = kitchen.agents
        minds = {me: CookingBot(kitchen), partner: COOKS[bot(names[0]).rule](kitchen)}
        return _totals(kitchen, minds, kitchen.steps, names, lambda state: state.rewards[0] > 0, rng)
    world = in_the_matrix(substrate)
    names = partners(entry.subject, len(world.agents) - 1, entry.seed, entry.number)
    filmed = (entry.subject, entry.number) == (FILMED, 0)
    return _matrix_totals(world, FOCAL[substrate], names, ORDINARY, world.rules.ends.limit, rng, filmed=filmed)


def _matrix_totals(
    world: InTheMatrix,
    focal: Strategy | None,
    names: Sequence[str],
    skill: Skill,
    steps: int,
    rng: np.random.Generator,
    *,
    filmed: bool = False,
) -> Row:
    """The totals of one episode in a matrix world. Without a focal strategy the first player walks at random."""
    me, *co_players = world.agents
    walking = MatrixBot.initial(world, me, _always(0), rng, WALKER)
    minds = {me: MatrixBot.initial(world, me, focal, rng, skill) if focal else walking}
    for agent, name in zip(co_players, names, strict=True):
        minds[agent] = background(world, agent, bot(name), rng, skill)
    return _totals(world, minds, steps, names, lambda state: state.met[0] is not None, rng, filmed=filmed)


def background(
    world: InTheMatrix, agent: str, co_player: Bot, rng: np.random.Generator, skill: Skill = ORDINARY
) -> MatrixBot:
    """A bot in a matrix world: its strategy in a scripted body; a scout has none, it watches and replies."""
    if co_player.strategy is not None:
        return MatrixBot.initial(world, agent, co_player.strategy, rng, skill)
    replies = tuple(Aim(kind, 3) for kind in (PAPER, SCISSORS, ROCK))
    return MatrixBot.initial(world, agent, strategies.CounterPrevious(replies), rng, SCOUT)


def _totals(
    world: Any,
    minds: Mapping[str, Any],
    steps: int,
    names: Sequence[str],
    counts: Callable[[Any], bool],
    rng: np.random.Generator,
    *,
    filmed: bool = False,
) -> Row:
    """The first player's reward in an episode, its steps, and the number of states that count.

    The film of a matrix world, for the viewer, has the meetings, too.
    """
    me, reward, meetings, taken, film = world.agents[0], 0.0, 0, 0, Row()
    for step in rollout(world, minds, steps=steps, rng=rng):
        if filmed:
            film = film or {"kinds": step.state.kinds, "frames": [frame(step.state)], "met": []}
            film["frames"].append(frame(step.after))
            if step.after.met[0] is not None:
                own, theirs = step.after.met[0]
                pay = world.rules.reward(own, theirs)[0]
                film["met"].append({"t": step.after.t, "partner": 1, "own": own, "theirs": theirs, "reward": pay})
        reward += world.reward(step.state, step.joint, step.after)[me]
        meetings += counts(step.after)
        taken += 1
    totals = {"steps": taken, "reward": reward, "meetings": meetings, "bots": list(names)}
    return totals | ({"film": film} if film else {})


def summarise(all_rows: Sequence[Row]) -> Iterator[Row]:
    """Means with 95 % intervals over episodes, raw and per 1200 steps; `per_meeting` is Σ reward / Σ meetings.

    `inside` is the share of calibration cases whose mean is within the interval of the prototype's, if there are
    ENOUGH episodes to tell.
    """
    inside = []
    for condition, subject in dict.fromkeys((row["condition"], row["subject"]) for row in all_rows):
        episodes = [row for row in all_rows if (row["condition"], row["subject"]) == (condition, subject)]
        for metric, value in score_metrics(episodes).items():
            yield (row := summary_row(EXPERIMENT, condition, subject, metric, value))
            bounds = beside_published([row])[0]
            if "published_low" in bounds and value.n >= ENOUGH:
                inside.append(bounds["published_low"] <= value.value <= bounds["published_high"])
    if inside:
        yield summary_row(EXPERIMENT, "calibration", "all", "inside", proportion(inside))


def score_metrics(mine: Sequence[Row]) -> dict[str, Estimate]:
    """Means over episodes of score, reward, steps and meetings, and the reward per meeting if there were any."""
    values = {name: [float(row[name]) for row in mine] for name in ("score", "reward", "steps", "meetings")}
    estimates = {name: mean(numbers) for name, numbers in values.items()}
    if any(values["meetings"]):
        estimates["per_meeting"] = ratio(values["reward"], values["meetings"])
    return estimates
