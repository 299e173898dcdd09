"""People on the scale of literal and functional Theory of Mind: plan, episodes and summary of `reproduce people`.

Conditions are rps/BOT (people and players against the bots of Brockbank and Vul), ipd/TREATMENT (people in the
prisoner's dilemmas of Dal Bó and Fréchette), llm/GAME/PARTNER (language models recorded by Akata et al.), fit/DATA,
prior/DATA, and recovery/DATA.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from otherminds.evaluation.choices import Choices, crowd_of, fitted_partners, simulated
from otherminds.evaluation.engines import stream
from otherminds.evaluation.fitting import Fit, weakly
from otherminds.evaluation.likelihoods import Likelihood
from otherminds.evaluation.literal_functional import functional_regret, normalised
from otherminds.evaluation.model_comparison import drawn, random_effects, recover, recovery, strategy_shares
from otherminds.evaluation.predictions import last_rounds, later_rounds, leave_one_person_out
from otherminds.evaluation.statistics import Estimate, exact, mean, pearson, ratio, summary_row
from otherminds.evaluation.store import Key, Row, first_columns
from otherminds.evaluation.tasks import Task, play
from otherminds.mind import ParametricMind
from otherminds.papers.people.datasets import BOTS, RPS, STRATEGIES, bots, bundled, dataset, strategies
from otherminds.worlds.repeated_games.machines import Machine, build, constant, periodic, reactive
from otherminds.worlds.repeated_games.payoff_files import find_game
from otherminds.worlds.repeated_games.players.by_name import player
from otherminds.worlds.repeated_games.players.parametric import MINDS
from otherminds.worlds.repeated_games.rules import Game

EXPERIMENT = "people"
Floats = NDArray[np.float64]
MODEL_ROUNDS = 30  # of a language model with a bot, as in a check
BLOCKS = {"first_30": (1, MODEL_ROUNDS), "1": (1, 100), "2": (101, 200), "3": (201, 300)}
"""Blocks of rounds of rock-paper-scissors: the first and the last round of each."""
ROUNDS, LAST = 300, "3"
BEST = 0.9 * 3.0 + 0.05 * 0.0 + 0.05 * -1.0  # points a round of the best response to a bot's rule
UNIFORM = 2.0 / 3.0  # points a round of uniformly random play
PLAYERS = ("bayes", "posterior_sampling", "rmax")
"""The usual player, another Bayesian one, and the tabular baseline."""
EPISODES = {"quick": 1, "normal": 5, "full": 5}
DATA = {"human-rps": "rps", "human-ipd": "ipd"}
QUICK = ("chance", "wsls", "reply_transitions")
"""Minds of a quick run."""
PRIORS = (1.5, 2.5, 5.0, 10.0)  # standard deviations of the weak prior that are tried
HALVES = ("chosen on", "checked on")  # every second person from the first on, and the others
RECOVERED = 0.9  # correlation of true and fitted values from which a parameter counts as recovered; a rule of thumb
SHOWN = 0.005  # share of people from which a confusion of minds is in the summary
EVERY = 4
"""One in so many simulated people is fitted by all minds, and half as many in ten times the matches; bounds time."""
TIMES = 10  # as many matches are simulated to see whether a parameter that is not recovered lacks data


def minds_of(data: str) -> tuple[ParametricMind, ...]:
    """The minds that can play the games of a data set."""
    game = dataset(data).games[0]
    return tuple(mind for mind in MINDS.values() if mind.fits(game))


def loss(earned: float) -> float:
    """(best − earned) / (best − uniform), points a round: 0 is the best response to the bot's rule, 1 random play."""
    return (BEST - earned) / (BEST - UNIFORM)


# The plan


@dataclass(frozen=True)
class Planned:
    """An entry of the plan: what is done for a condition, a subject and an episode."""

    condition: str
    subject: str
    episode: str
    seed: int

    @property
    def key(self) -> Key:
        """What identifies it in the rows."""
        return (self.condition, self.subject, self.episode)

    @property
    def columns(self) -> Row:
        """The first columns of its rows."""
        return first_columns(EXPERIMENT, self.key, self.seed)


Part = tuple[Callable[[Planned], list[Row]], list[Planned]]


def plan(scale: str, seed: int) -> list[Part]:
    """The parts of the experiment: each a function that makes rows, and the entries that it is called with."""
    minds = {data: [m.name for m in minds_of(data) if scale != "quick" or m.name in QUICK] for data in DATA}
    fits = [Planned(f"fit/{DATA[data]}", mind, "fit", seed) for data in DATA for mind in minds[data]]
    treatments = [f"ipd/{group}" for group in dict.fromkeys(dataset("human-ipd").groups)]
    recoveries = [replace(fit, condition=fit.condition.replace("fit", "recovery")) for fit in fits]
    numbers = range(EPISODES[scale])
    return [
        (blocks_of_people, [Planned(f"rps/{bot}", "people", "choices", seed) for bot in BOTS]),
        (blocks_of_player, [Planned(f"rps/{b}", p, str(i), seed) for b in BOTS for p in PLAYERS for i in numbers]),
        (fitted, fits),
        (mixture, [Planned(condition, "mixture", "shares", seed) for condition in treatments]),
        (recorded, [Planned("llm/recorded", "models", "all", seed)]),
        (prior, [replace(fit, condition=fit.condition.replace("fit", "prior")) for fit in fits if scale != "quick"]),
        (recovered, recoveries if scale == "full" else []),
    ]


# Rock-paper-scissors


def _blocks(choices: Choices) -> Iterator[tuple[str, str, float, int]]:
    """Person, block, points and rounds; rounds that were not recorded are left out."""
    for s, n in enumerate(choices.person):
        for block, (first, last) in BLOCKS.items():
            points = choices.earned[s][(first <= choices.number[s]) & (choices.number[s] <= last)]
            yield choices.people[n], block, float(points.sum()), len(points)


def blocks_of_people(entry: Planned) -> list[Row]:
    """What each person earned in each block."""
    choices = dataset("human-rps").of_group(entry.condition.partition("/")[2])
    return [
        {**entry.columns, "kind": "block", "person": person, "block": block, "earned": earned, "rounds": rounds}
        for person, block, earned, rounds in _blocks(choices)
    ]


def blocks_of_player(entry: Planned) -> list[Row]:
    """What a player earned in each block of an episode with a bot, and how often it predicted the bot."""
    task = Task(RPS, bots()[entry.condition.partition("/")[2]], ROUNDS)
    names = ("player", "choices", "bot")
    rngs = [stream(entry.seed, entry.condition, f"{entry.subject}/{entry.episode}", name) for name in names]
    subject = player(entry.subject, RPS, horizon=task.horizon, rng=rngs[0])
    return blocks_of_rounds(entry.columns, list(play(task, subject, rng=rngs[1], partner_rng=rngs[2])))


def blocks_of_rounds(columns: Row, rounds: Sequence[Row]) -> list[Row]:
    """What was earned in each block of an episode, and how often the bot was predicted."""
    rows = []
    for block, (first, last) in BLOCKS.items():
        if block_rounds := rounds[first - 1 : last] if last <= len(rounds) else ():
            about = {"kind": "block", "person": columns["episode"], "block": block, "rounds": len(block_rounds)}
            hits = sum(row["predicted"] == row["observed"] for row in block_rounds)
            rows.append({**columns, **about, "earned": sum(row["reward"] for row in block_rounds), "hits": hits})
    return rows


# Fits


def _data(condition: str) -> str:
    """The data set of fit/rps, recovery/ipd, …"""
    return next(data for data, short in DATA.items() if short == condition.partition("/")[2])


def fitted(entry: Planned) -> list[Row]:
    """A mind fitted to each person: parameters, criteria, and two predictions of what was not fitted."""
    mind, choices = MINDS[entry.subject], dataset(_data(entry.condition))
    fit = weakly(Likelihood.of(mind, choices))
    rounds, left_out = later_rounds(mind, choices), leave_one_person_out(mind, choices, fit)
    late = choices.total((last_rounds(choices) & choices.scored).sum(axis=1).astype(float))
    hits = _hits(mind, fit, choices)
    return [
        {
            **entry.columns,
            "kind": "fit",
            "person": person,
            "group": choices.groups[n],
            "parameters": {name: float(values[n]) for name, values in fit.values.items()},
            "choices": int(fit.choices[n]),
            "log_likelihood": float(fit.log_likelihood[n]),
            "bic": float(fit.bic[n]),
            "held_out": float(rounds[n]),
            "held_out_choices": int(late[n]),
            "others": float(left_out[n]),
            "hits": None if hits is None else int(hits[n]),
            "rounds": int(choices.total(choices.played.sum(axis=1).astype(float))[n]),
        }
        for n, person in enumerate(choices.people)
    ]


def _hits(mind: ParametricMind, fit: Fit, choices: Choices) -> Floats | None:
    """In how many rounds the fitted mind's most probable prediction was right, by person; None if it has none."""
    if not mind.parameters or mind.many is None:
        return None
    crowd = crowd_of(mind, choices, {name: v[choices.person][:, None] for name, v in fit.values.items()})
    if not hasattr(crowd, "predict"):
        return None
    right = np.zeros(len(choices.own))
    for own, theirs, is_played in zip(choices.own.T, choices.theirs.T, choices.played.T, strict=True):
        right += is_played & (crowd.predict()[:, 0].argmax(axis=1) == theirs)
        crowd = crowd.observe(own, theirs)
    return choices.total(right)


def prior(entry: Planned) -> list[Row]:
    """The held-out likelihood of a mind on each half of the people, by the width of the weak prior."""
    mind, choices = MINDS[entry.subject], dataset(_data(entry.condition))
    rows = []
    for first, half in enumerate(HALVES):
        some = choices.subset(range(first, len(choices.people), 2))
        about = {"kind": "prior", "half": half, "choices": int((last_rounds(some) & some.scored).sum())}
        values = {sd: float(later_rounds(mind, some, sd=sd).sum()) for sd in PRIORS}
        rows += [{**entry.columns, **about, "sd": sd, "held_out": value} for sd, value in values.items()]
    return rows


def mixture(entry: Planned) -> list[Row]:
    """Shares of the six strategies in a treatment, and the probability of each strategy for each person."""
    choices = dataset("human-ipd").of_group(entry.condition.partition("/")[2])
    fit = strategy_shares(strategies(), choices)
    about = {"people": len(choices.people), "tremble": fit.tremble, "tremble_error": fit.tremble_error}
    rows = [
        {**entry.columns, "kind": "share", "strategy": name, "share": float(share), "error": float(error), **about}
        for name, share, error in zip(STRATEGIES, fit.shares, fit.errors, strict=True)
    ]
    for person, probabilities in zip(choices.people, fit.responsibilities.tolist(), strict=True):
        chances = dict(zip(STRATEGIES, probabilities, strict=True))
        rows.append({**entry.columns, "kind": "strategy", "person": person, "probabilities": chances})
    return rows


def recovered(entry: Planned) -> list[Row]:
    """As many people as in the data, simulated by a mind: true and fitted parameters, and the minds that fit best."""
    data = _data(entry.condition)
    choices, mind, minds = dataset(data), MINDS[entry.subject], minds_of(data)
    partners = bots() if data == "human-rps" else fitted_partners(choices)
    rng = stream(entry.seed, entry.condition, entry.subject, "people")
    parameters, recognition = recover(mind, minds, choices, rng, partners, EVERY)
    longer = {}
    if any(estimate.r < RECOVERED for estimate in parameters):
        sample = choices.subset(range(0, len(choices.people), 2 * EVERY))
        longer_matches = sample.of_matches(np.tile(np.arange(len(sample.own)), TIMES))
        true = drawn(mind, len(sample.people), rng)
        fits = weakly(Likelihood.of(mind, simulated(mind, longer_matches, true, rng, partners)))
        longer = {estimate.parameter: estimate.r for estimate in recovery(true, fits)}
    rows = [
        {
            **entry.columns,
            **estimate._asdict(),
            "kind": "recovery",
            "true": estimate.true.round(5).tolist(),
            "fitted": estimate.fitted.round(5).tolist(),
            "longer": longer.get(estimate.parameter),
        }
        for estimate in parameters
    ]
    shares = {
        level: dict(zip((candidate.name for candidate in minds), recognised.tolist(), strict=True))
        for level, recognised in (("person", recognition.by_person), ("group", recognition.by_group))
    }
    about = {"people": -(-len(choices.people) // EVERY), "groups": len(set(choices.groups))}
    nearest = {"nearest": recognition.nearest, "ahead": recognition.ahead}
    return [*rows, {**entry.columns, "kind": "recognition", **about, **shares, **nearest}]


# Language models that were recorded

TABLES = {"pd": "llm-pd-five-models", "bos": "llm-bos-five-models", "pd20": "llm-pd-gpt4-variants-of-tit-for-tat"}
NAMES = {
    "act_gpt4": "GPT-4",
    "act_gpt4_predictfirst": "GPT-4, asked to predict first",
    "act_gpt35": "GPT-3.5",
    "act_gpt3": "davinci-003",
    "act_claude": "Claude 2",
    "act_llama2": "Llama 2 70B",
}
J, F = 0, 1


def _prober(name: str, game: Game, noise: float) -> Machine:
    """Tit for tat that defects with this probability where it would cooperate."""
    return build(name, game, J, lambda q: (0.0, 1.0) if q else (1.0 - noise, noise), lambda _q, _own, theirs: theirs)


def _two_tats(game: Game) -> Machine:
    return build("tftt", game, 0, lambda q: int(q == 2), lambda q, _own, theirs: min(q + 1, 2) if theirs == F else 0)


FIXED: Mapping[str, Callable[[Game], Machine]] = {
    "act_j": lambda game: constant(game, J),
    "act_f": lambda game: constant(game, F),
    "act_defect_once": lambda game: build("defect once", game, F, lambda q: q, lambda _q, _own, _theirs: J),
    "act_jf": lambda game: periodic("alternate JF", game, (J, F)),
    "act_fj": lambda game: periodic("alternate FJ", game, (F, J)),
    "act_tft": lambda game: reactive("tft", game, J, (J, F)),
    "act_stft": lambda game: reactive("suspicious tft", game, F, (J, F)),
    "act_rtft": lambda game: reactive("reverse tft", game, F, (F, J)),
    "act_tftt": _two_tats,
    "act_np10": lambda game: _prober("naive prober .1", game, 0.1),
    "act_np20": lambda game: _prober("naive prober .2", game, 0.2),
}
"""The fixed partners; those without chance play as recorded in all rounds, which is tested. The rule of act_htft cannot
be told from the records, so it is left out."""


@cache
def llm_game(name: str) -> Game:
    """The game of a table: payoffs of the columns of points, J and F in the places of the first and second action."""
    plain = find_game("ibs" if name == "bos" else "ipd")
    return Game(f"llm-{name}", plain.agents, (("J", "F"),) * 2, plain.payoffs)


def matches(name: str) -> Iterator[tuple[str, str, int, list[tuple[int, int]], list[float]]]:
    """Model, partner, the model's place (0 or 1), actions (own, partner's) and points of each match with a partner."""
    by_players: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    for row in csv.DictReader(io.StringIO(bundled(TABLES[name]))):
        by_players[row["player1"], row["player2"]].append(row)
    for (first, second), rows in by_players.items():
        for place, model, partner in ((0, first, second), (1, second, first)):
            if model in NAMES and partner in FIXED:
                mine, yours = f"answer{place + 1}", f"answer{2 - place}"
                actions = [("JF".index(row[mine]), "JF".index(row[yours])) for row in rows]
                yield model, partner, place, actions, [float(row[f"points{place + 1}"]) for row in rows]


def recorded(entry: Planned) -> list[Row]:
    """A row for each match of a language model with a fixed partner: points, the exact optimum, and the loss."""
    rows = []
    for name in TABLES:
        for model, partner, place, actions, points in matches(name):
            game = llm_game(name).seen_by(place)
            task = Task(game, FIXED[partner](game), len(actions))
            regret = functional_regret(
                task, [{"reward": p, "action": a} for p, (a, _) in zip(points, actions, strict=True)]
            )
            share = normalised(task, regret)
            rows.append(
                {
                    **entry.columns,
                    "kind": "match",
                    "game": name,
                    "model": NAMES[model],
                    "partner": task.partner.name,
                    "place": place + 1,
                    "rounds": len(actions),
                    "actions": "".join("JF"[a] for a, _ in actions),
                    "partner_actions": "".join("JF"[b] for _, b in actions),
                    "earned": sum(points),
                    "optimum": task.optimum,
                    "regret": regret,
                    "loss": None if np.isnan(share) else share,
                }
            )
    return rows


# The summary


def summarise(rows: Sequence[Row]) -> list[Row]:
    """All metrics with 95 % intervals; those of people are clustered by person."""
    kinds: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        kinds[row["kind"]].append(row)
    return [
        *_loss_summary(kinds["block"]),
        *_mind_summary(kinds["fit"]),
        *_strategy_summary(kinds["share"]),
        *_model_summary(kinds["match"]),
        *_prior_summary(kinds["prior"]),
        *_recovery_summary(kinds["recovery"], kinds["recognition"]),
    ]


summary = partial(summary_row, EXPERIMENT)


def _loss_summary(rows: Sequence[Row]) -> Iterator[Row]:
    """The mean loss of people and players by bot and block, and late in the match also how well bots were predicted."""
    rows_by_block: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        for condition in (row["condition"], "rps/all"):
            rows_by_block[condition, row["subject"], row["block"]].append(row)
    for (condition, subject, block), block_rows in rows_by_block.items():
        losses = [loss(row["earned"] / row["rounds"]) for row in block_rows]
        is_last_block = block == LAST
        yield summary(condition, subject, f"loss_block_{block}", mean(losses))
        if is_last_block:
            yield summary(condition, subject, "loss", mean(losses))
            best = sorted(losses)[: max(1, round(len(losses) / 10))]
            if subject == "people":
                yield summary(condition, subject, "loss_best_tenth", mean(best))
        if is_last_block and "hits" in block_rows[0]:
            yield summary(condition, subject, "literal", mean([row["hits"] / row["rounds"] for row in block_rows]))
    for condition in dict.fromkeys(row["condition"] for row in rows):
        task = Task(RPS, bots()[condition.partition("/")[2]], ROUNDS)
        # the best response to the bot, which knows it: its loss in the last block is 0 in expectation
        yield summary(
            condition, "optimum", "loss", exact(loss(float(task.best_by_round[BLOCKS[LAST][0] - 1 :].mean())), 1)
        )


def _mind_summary(rows: Sequence[Row]) -> Iterator[Row]:
    """The comparison of minds for each group of people: held-out likelihood, BIC, and random effects over people."""
    fits_by_mind: dict[str, dict[str, list[Row]]] = defaultdict(dict)
    for row in rows:
        fits_by_mind[f"{row['condition'].partition('/')[2]}/{row['group']}"].setdefault(row["subject"], []).append(row)
    for condition, minds in fits_by_mind.items():
        held_out = np.array([[row["held_out"] for row in fits] for fits in minds.values()]).T
        effects = random_effects(held_out)
        bic = {mind: sum(row["bic"] for row in fits) for mind, fits in minds.items()}
        for m, (mind, fits) in enumerate(minds.items()):
            people, counted = len(fits), [row["held_out_choices"] for row in fits]
            yield summary(condition, mind, "held_out", ratio([row["held_out"] for row in fits], counted))
            yield summary(
                condition, mind, "held_out_people", ratio([r["others"] for r in fits], [r["choices"] for r in fits])
            )
            yield summary(condition, mind, "delta_bic", exact(bic[mind] - min(bic.values()), people))
            yield summary(condition, mind, "share", exact(float(effects.shares[m]), people))
            yield summary(condition, mind, "exceedance", exact(float(effects.exceedance[m]), people))
            yield summary(condition, mind, "protected", exact(float(effects.protected[m]), people))
            if fits[0]["hits"] is not None:
                literal = ratio([row["hits"] for row in fits], [row["rounds"] for row in fits])
                yield summary(condition, mind, "literal_of_fit", literal)


def _strategy_summary(rows: Sequence[Row]) -> Iterator[Row]:
    """The share of each strategy in a treatment, with an interval of ± 1.96 standard errors, and the tremble."""
    for row in rows:
        share, error = row["share"], row["error"]
        estimate = Estimate(share, max(share - 1.96 * error, 0.0), min(share + 1.96 * error, 1.0), row["people"])
        yield summary(row["condition"], row["strategy"], "strategy_share", estimate)
        if row["strategy"] == STRATEGIES[0]:
            low, high = row["tremble"] - 1.96 * row["tremble_error"], row["tremble"] + 1.96 * row["tremble_error"]
            estimate = Estimate(row["tremble"], max(low, 0.0), min(high, 1.0), row["people"])
            yield summary(row["condition"], "mixture", "tremble", estimate)


def _model_summary(rows: Sequence[Row]) -> Iterator[Row]:
    """The mean exact regret and loss of each recorded language model, by game and partner."""
    rows_by_model: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        for partner in (row["partner"], "all"):
            rows_by_model[row["game"], partner, row["model"]].append(row)
    for (game, partner, model), matches in rows_by_model.items():
        yield summary(
            f"llm/{game}/{partner}", model, "functional_regret_exact", mean([row["regret"] for row in matches])
        )
        if losses := [row["loss"] for row in matches if row["loss"] is not None]:
            yield summary(f"llm/{game}/{partner}", model, "loss", mean(losses))


def _prior_summary(rows: Sequence[Row]) -> Iterator[Row]:
    """The held-out log-likelihood per choice by mind, width of the prior, and half of the people."""
    rows_by_prior: dict[tuple[str, str, float], list[Row]] = defaultdict(list)
    for row in rows:
        rows_by_prior[row["condition"], row["half"], row["sd"]].append(row)
    for (condition, half, sd), prior_rows in rows_by_prior.items():
        per_choice = float(np.mean([row["held_out"] / row["choices"] for row in prior_rows]))
        yield summary(condition, f"sd {sd:g}", half.replace(" ", "_"), exact(per_choice, len(prior_rows)))


def _recovery_summary(parameters: Sequence[Row], minds: Sequence[Row]) -> Iterator[Row]:
    """How well parameters are recovered, and how often each simulated mind is recognised."""
    for row in parameters:
        where = (row["condition"], f"{row['subject']}:{row['parameter']}")
        people = len(row["true"])
        metrics = {"recovery_r": pearson(row["true"], row["fitted"]), "error": row["error"]}
        metrics |= {f"rho_with_{row['rival']}": row["rho"]} if row["rival"] else {}
        metrics |= {"recovery_r_longer": row["longer"]} if row["longer"] is not None else {}
        for metric, value in metrics.items():
            yield summary(*where, metric, exact(value, people))
    for row in minds:
        own, where = row["subject"], (row["condition"], row["subject"])
        yield summary(*where, "recognised", exact(row["person"][own], row["people"]))
        yield summary(*where, "recognised_groups", exact(row["group"][own], row["groups"]))
        yield summary(*where, f"ahead_of_{row['nearest']}", exact(row["ahead"], row["people"]))
        for mind, share in row["person"].items():
            if share >= SHOWN and mind != own:
                yield summary(*where, f"taken_for_{mind}", exact(share, row["people"]))


def standing() -> tuple[float, float]:
    """The lowest and the highest mean loss of people in the last 100 rounds, over the seven bots."""
    choices = dataset("human-rps")
    losses = []
    for bot in BOTS:
        late = [earned / n for _, block, earned, n in _blocks(choices.of_group(bot)) if block == LAST]
        losses.append(loss(float(np.mean(late))))
    return min(losses), max(losses)
