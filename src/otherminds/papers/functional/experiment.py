"""Literal and functional Theory of Mind in repeated games (Riemer et al.): tasks, episodes, plan, and scores.

A condition is a game and a suite of partners, a subject is a player; an episode is a pure function of its entry.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

from otherminds.evaluation import literal_functional as metrics
from otherminds.evaluation.engines import stream
from otherminds.evaluation.statistics import Estimate, exact, mean, paired, stratified, summary_row
from otherminds.evaluation.store import Key, Row, first_columns, key
from otherminds.evaluation.tasks import Task, evenly, play
from otherminds.worlds.repeated_games import partners
from otherminds.worlds.repeated_games.machines import read_machines
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.bayesian_lookahead import (
    BayesianLookahead,
    HypothesisSet,
    closed_hypotheses,
)
from otherminds.worlds.repeated_games.players.best_responders import Myopic, Rational, Reader
from otherminds.worlds.repeated_games.players.best_response_to_mixture import MixtureBestResponse
from otherminds.worlds.repeated_games.players.by_name import player
from otherminds.worlds.repeated_games.players.learners import RMax
from otherminds.worlds.repeated_games.players.open_bayes import OpenBayes, library_hypotheses
from otherminds.worlds.repeated_games.rules import Game

EXPERIMENT = "functional"
HORIZON = 100  # rounds of an episode (paper, §4)
GAMES = ("rps", "ibs", "ipd")
CELLS = tuple(f"{game}/{suite}" for game in GAMES for suite in ("single", "tft"))
NOISES = {"noise05": 0.05, "noise10": 0.10}  # probability of a random action of the partner; chosen, not in the paper
MODELS = "lm:"  # how the names of subjects that are language models begin
LEFT_OUT = "machines_leave_one_out"
LIBRARY, MACHINES = f"ipd/{LEFT_OUT}", "ipd/machines"
SUITES = {
    "single": partners.single_action,
    "tft": partners.tit_for_tat,
    "memory_one": partners.memory_one,
    "machines": partners.machines,
    LEFT_OUT: partners.machines,
}

KEPT = ("t", "predicted", "p_predicted", "p_true", "observed", "action", "reward", "best", "consistent")


@cache
def tasks(condition: str, machines: str = "") -> tuple[Task, ...]:
    """The tasks of a condition `game/suite` or `game/suite_noise05`: one for each partner.

    `machines` is a file of machines that replace the bundled ones. Raises InputError if it cannot be read.
    """
    name, suite = condition.split("/")
    plain, _, noise = suite.partition("_noise")
    game = find_game(name)
    tremble = NOISES[f"noise{noise}"] if noise else 0.0
    suite_of = SUITES[plain]
    members = read_machines(Path(machines), game) if machines and suite_of is partners.machines else suite_of(game)
    return tuple(Task(game, machine.trembling(tremble), HORIZON) for machine in members)


@dataclass(frozen=True)
class GameEntry:
    """One episode of the plan. By `policy` the subject acts in its own way, or rationally on its predictions.

    If `spread` is positive, the subject's random choices are spread evenly over that many episodes with this partner
    (systematic sampling).
    """

    condition: str
    subject: str
    partner: int
    number: int
    seed: int
    policy: str = "own"
    machines: str = ""
    spread: int = 0

    @property
    def task(self) -> Task:
        """The game, the partner and the number of rounds."""
        return tasks(self.condition, self.machines)[self.partner]

    @property
    def episode(self) -> str:
        """The partner, the number of the episode with it, and the policy unless it is the subject's own."""
        name = f"{self.task.partner.name}/{self.number}"
        return name if self.policy == "own" else f"{name}/{self.policy}"

    @property
    def key(self) -> tuple[str, str, str]:
        """Condition, subject and episode, which identify it in the rows."""
        return (self.condition, self.subject, self.episode)


def reader(entry: GameEntry) -> Reader:
    """The subject before the first round. The floors and `bayes_closed` know the suite that the partner is from.

    Raises InputError for an unknown subject.
    """
    game, horizon = entry.task.game, entry.task.horizon
    if entry.subject == "floor":
        return _floor(entry.condition, entry.machines)
    if entry.subject == "floor_suite":
        return _floor_suite(game)
    if entry.subject == "bayes_library" and entry.condition == LIBRARY:
        library = tuple(task.partner for i, task in enumerate(tasks(LIBRARY, entry.machines)) if i != entry.partner)
        return OpenBayes.of(library_hypotheses(game, HORIZON, library))
    if entry.subject == "bayes_closed":
        return BayesianLookahead.of(_known(entry.machines))
    return player(entry.subject, game, horizon=horizon, rng=_stream(entry, "player"))


@cache
def _floor(condition: str, machines: str) -> MixtureBestResponse:
    """A Bayes-optimal player that knows the suite's partners, but not which of them it faces."""
    suite_tasks = tasks(condition, machines)
    return MixtureBestResponse.of(suite_tasks[0].game, [task.partner for task in suite_tasks], horizon=HORIZON)


@cache
def _floor_suite(game: Game) -> MixtureBestResponse:
    """A Bayes-optimal player with probability ½ on tit for tat and ½ on the single-action partners together."""
    single = [task.partner for task in tasks(f"{game.name}/single")]
    weights = [0.5 / len(single)] * len(single) + [0.5]
    return MixtureBestResponse.of(game, [*single, tasks(f"{game.name}/tft")[0].partner], weights, HORIZON)


@cache
def _known(machines: str) -> HypothesisSet:
    """The hypothesis set of all machines."""
    return closed_hypotheses(find_game("ipd"), [task.partner for task in tasks(MACHINES, machines)], HORIZON)


def _stream(entry: GameEntry, role: str) -> Any:
    """The random stream of a role. The partner's is the same for all subjects; the others depend on the subject."""
    subject_key = () if role == "partner" else (entry.subject, entry.policy)
    return stream(entry.seed, entry.condition, f"{entry.task.partner.name}/{entry.number}", role, *subject_key)


def rows(entry: GameEntry) -> list[Row]:
    """Play an episode. One row per round; the last one also has the scores of the episode."""
    task, subject = entry.task, reader(entry)
    if entry.policy == "myopic":
        subject = Myopic(subject, task.game)
    elif entry.policy == "model":
        subject = Rational(subject, task.game, task.horizon)
    base = first_columns(EXPERIMENT, entry.key, entry.seed)
    acts = _stream(entry, "acts")
    choose = evenly(entry.number, entry.spread, acts) if entry.spread else None
    rounds = list(play(task, subject, rng=acts, partner_rng=_stream(entry, "partner"), choose=choose))
    return episode_rows(task, {**base, "partner": task.partner.name, "policy": entry.policy}, rounds)


def episode_rows(task: Task, base: Row, rounds: Sequence[Row], extra: Sequence[str] = ()) -> list[Row]:
    """The rows of an episode from its rounds: `base` in every row, and the scores of the episode in the last one.

    `extra` names columns of the rounds to keep beside the usual ones.
    """
    scored_rows = [{**base, **{name: row[name] for name in (*KEPT, *extra)}} for row in rounds]
    for row in scored_rows:
        row |= {name: round(row[name], 6) for name in ("p_true", "p_predicted")}
    scored_rows[-1] |= {
        "uniform": task.uniform,
        "brier": sum(row["brier"] for row in rounds) / len(rounds),
        "functional_regret": metrics.functional_regret(task, scored_rows),
        "functional_regret_rate": metrics.functional_regret(task, scored_rows, optimum="rate"),
        "tom_regret_paper": metrics.tom_regret_paper(task, scored_rows),
        "tom_percent": metrics.tom_percent(scored_rows),
    }
    return scored_rows


@dataclass(frozen=True)
class Sizes:
    """Numbers of episodes at one scale: per cell (`paper`, `chance`, `noise`) or per partner (`machines`).

    `paper` is for the paper's tabular player, `chance` for other players that act at random. Every `left_out`-th
    machine is left out of the library in turn. `everything` adds all memory-one partners.
    """

    paper: int
    chance: int
    noise: int
    machines: int
    left_out: int
    everything: bool


# "full" plays the tabular player 300 times per cell; the others are chosen for running time
SCALES = {
    "quick": Sizes(paper=100, chance=16, noise=12, machines=1, left_out=5, everything=False),
    "normal": Sizes(paper=100, chance=50, noise=24, machines=2, left_out=1, everything=True),
    "full": Sizes(paper=300, chance=300, noise=100, machines=10, left_out=1, everything=True),
}
TABULAR = ("rmax", "rmax_exact_ties")
BY_CHANCE = ("rmax_exact_ties", "posterior_sampling", "fictitious_play")
K_TOM = ("k_tom_0", "k_tom_1", "k_tom_2")
READERS = ("rmax", "bayes_simplicity", "posterior_sampling", "fictitious_play")


def plan(scale: str, seed: int, machines: str = "") -> list[GameEntry]:
    """All episodes of a scale; with a file of machines, only the episodes with these machines."""
    sizes = SCALES[scale]
    if machines:
        return [replace(entry, machines=machines) for entry in _machines(sizes, seed, machines)]
    entries = [*_cells(sizes, seed)]
    for condition in (f"{cell}_{noise}" for cell in CELLS for noise in NOISES):
        for subject in ("rmax", "bayes_simplicity", "posterior_sampling"):
            if subject != "bayes_simplicity" or sizes.everything or not condition.startswith("rps"):
                entries += _episodes(condition, subject, seed, sizes.noise)
    entries += _machines(sizes, seed, "")
    for game in GAMES if sizes.everything else ():
        condition = f"{game}/memory_one"
        for subject in ("rmax", "posterior_sampling"):
            entries += _episodes(condition, subject, seed, 2 * len(tasks(condition)))
        for subject in ("bayes_simplicity", "floor") if game != "rps" else ("bayes_simplicity",):
            entries += _episodes(condition, subject, seed, 1)
    return entries


def _episodes(condition: str, subject: str, seed: int, total: int, policy: str = "own") -> Iterator[GameEntry]:
    """`total` episodes, the same number with each partner (rounded up)."""
    each = -(-total // len(tasks(condition)))
    for number in range(each):
        for partner in range(len(tasks(condition))):
            yield GameEntry(condition, subject, partner, number, seed, policy, spread=each if subject in TABULAR else 0)


def _cells(sizes: Sizes, seed: int) -> Iterator[GameEntry]:
    for condition in CELLS:
        totals = {"rmax": sizes.paper} | dict.fromkeys(BY_CHANCE, sizes.chance)
        totals |= dict.fromkeys(("bayes_simplicity", "floor", "floor_suite"), 1)
        totals |= dict.fromkeys(() if condition.startswith("rps") else K_TOM, sizes.chance // 8)
        for subject, total in totals.items():
            yield from _episodes(condition, subject, seed, total)
        for subject in READERS:
            for policy in ("myopic", "model"):
                yield from _episodes(condition, subject, seed, 1 if subject != "posterior_sampling" else 4, policy)


def _machines(sizes: Sizes, seed: int, machines: str) -> Iterator[GameEntry]:
    """Episodes with machines. Without a floor if they are from a file: it may have too many posteriors to be solved."""
    count = len(tasks(MACHINES, machines))
    certain = ("bayes_closed", "bayes_simplicity", "tft", "always-defect", *(() if machines else ("floor",)))
    for subject in ("rmax", "posterior_sampling", *certain):
        episodes = 1 if subject in certain else sizes.machines
        for number, partner in product(range(episodes), range(count)):
            yield GameEntry(MACHINES, subject, partner, number, seed)
    for partner in range(0, count, sizes.left_out):
        yield GameEntry(LIBRARY, "bayes_library", partner, 0, seed)


Scores = Mapping[str, Estimate]
SAMPLED = ("machines", "machines_leave_one_out")


def summarise(rows: Sequence[Row], machines: str = "") -> list[Row]:
    """One row for each condition, subject and metric, with a 95 % interval.

    `functional_regret` (points per round) is against the paper's optimum, the reward rate, for the tabular subjects,
    as in the published figures beside them, and against the exact optimum for all others. Both also have names of
    their own: `functional_regret_rate` and `functional_regret_exact`. With machines, `minus_rmax` is the exact regret
    less the tabular player's, paired by machine.
    """
    by_subject = defaultdict[tuple[str, str], list[list[Row]]](list)
    for episode in episodes_of(rows):
        by_subject[episode[-1]["condition"], episode[-1]["subject"]].append(episode)
    all_scores: dict[tuple[str, str], Scores] = {
        (condition, subject): dict(_scores(tasks(condition, machines), condition, subject, episodes))
        for (condition, subject), episodes in by_subject.items()
    }
    reference = _by_partner(by_subject.get((MACHINES, "rmax"), ()))
    for (condition, subject), scores in all_scores.items():
        mine = _by_partner(by_subject[condition, subject])
        if condition in (MACHINES, LIBRARY) and (condition, subject) != (MACHINES, "rmax") and mine.keys() & reference:
            all_scores[condition, subject] = {**scores, "minus_rmax": paired(mine, reference)}
    for condition in dict.fromkeys(condition for condition, _ in all_scores):
        every = tasks(condition, machines)
        all_scores[condition, "task"] = {"interestingness": exact(metrics.interestingness(every), len(every))}
    for condition in CELLS:
        if (condition, "rmax") in all_scores:
            for subject in TABULAR:
                all_scores[condition, subject] = {
                    **all_scores.get((condition, subject), {}),
                    **_enumerated(condition, subject),
                }
    return [
        summary_row(EXPERIMENT, condition, subject, metric, estimate)
        for (condition, subject), scores in all_scores.items()
        for metric, estimate in (*scores.items(), *_skills(condition, subject, all_scores))
    ]


def episodes_of(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows grouped by episode, in order."""
    by_episode: dict[Key, list[Row]] = {}
    for row in rows:
        by_episode.setdefault(key(row), []).append(row)
    return [*by_episode.values()]


def _scores(
    chosen_tasks: Sequence[Task], condition: str, subject: str, episodes: Sequence[Sequence[Row]]
) -> Iterator[tuple[str, Estimate]]:
    by_name = {task.partner.name: task for task in chosen_tasks}
    own = [episode for episode in episodes if episode[-1]["policy"] == "own"]
    names = [episode[-1]["partner"] for episode in own]
    mean_of = partial(_mean, subject.startswith(MODELS) or condition.split("/")[1] in SAMPLED)
    scored = [_episode_scores(by_name[name], episode) for name, episode in zip(names, own, strict=True)]
    for metric in scored[0]:
        yield metric, mean_of([scores[metric] for scores in scored], names)
    for policy in ("myopic", "model"):
        if lasts := [episode[-1] for episode in episodes if episode[-1]["policy"] == policy]:
            regrets = [last["functional_regret"] for last in lasts]
            yield f"tom_regret_{policy}", mean_of(regrets, [last["partner"] for last in lasts])


def _by_partner(episodes: Sequence[Sequence[Row]]) -> dict[str, float]:
    """The mean exact regret with each partner, of a subject that plays in its own way."""
    by_partner = defaultdict[str, list[float]](list)
    for last in (episode[-1] for episode in episodes):
        if last["policy"] == "own":
            by_partner[last["partner"]].append(last["functional_regret"])
    return {name: fmean(regrets) for name, regrets in by_partner.items()}


def _episode_scores(task: Task, episode: Sequence[Row]) -> dict[str, float]:
    last = episode[-1]
    regret = "functional_regret_rate" if last["subject"] in TABULAR else "functional_regret"
    scores = {"functional_regret": last[regret], "functional_regret_exact": last["functional_regret"]}
    scores |= {name: last[name] for name in ("functional_regret_rate", "tom_regret_paper", "tom_percent", "brier")}
    scores["consistency"] = metrics.process_consistency(episode)
    if last["subject"].startswith(MODELS):
        scores |= {name: last[name] for name in ("unreadable_share", "lost_share")}
        scores |= {name: float(sum(row[name] for row in episode)) for name in ("tokens", "evaluated")}
    return scores | {"normalised_regret": metrics.normalised(task, last["functional_regret"])}


def _mean(sampled: bool, values: Sequence[float], partners: Sequence[str]) -> Estimate:
    """The mean with a bootstrap over partners if these are a sample of their kind, else stratified by partner.

    The partners of a language model count as a sample: what it does depends on the pairing more than on chance.
    """
    return mean(values, partners) if sampled and len(set(partners)) > 1 else stratified(values, partners)


def _enumerated(condition: str, subject: str) -> Scores:
    """The tabular player's exact expected regret over all branches of chance; empty for RPS tit for tat (too many)."""
    if condition == "rps/tft":
        return {}
    # by symmetry, one of RPS's three
    distinct_tasks = tasks(condition)[:1] if condition == "rps/single" else tasks(condition)
    player = RMax.of(distinct_tasks[0].game, exact_ties=subject == "rmax_exact_ties")
    values = [metrics.expected_regret(task, player, optimum="rate") for task in distinct_tasks]
    return {"functional_regret_enumerated": exact(sum(values) / len(values), len(tasks(condition)))}


def _skills(condition: str, subject: str, scores: Mapping[tuple[str, str], Scores]) -> Iterator[tuple[str, Estimate]]:
    """The share of the way from RMax's regret to the Bayes floor's, if both were played."""
    bound, reference = scores.get((condition, "floor")), scores.get((condition, "rmax"))
    own = scores[condition, subject].get("functional_regret_exact")
    if bound is None or reference is None or own is None:
        return
    ends = {"bayes": bound["functional_regret"].value, "reference": reference["functional_regret_exact"].value}
    value, low, high = (metrics.skill(regret, **ends) for regret in (own.value, own.high, own.low))
    yield "skill", Estimate(value, low, high, own.n)
