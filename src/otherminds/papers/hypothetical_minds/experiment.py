"""Hypothetical Minds in the thirty scenarios: is the partner predicted, and does the agent act on that?

Each meeting is a row: what was expected of the partner, what it played, the reward, and what the best response to the
partner's true strategy would have been worth. Bodies are scripted, so scores compare within this suite.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from otherminds.errors import unknown
from otherminds.evaluation.engines import stream
from otherminds.evaluation.progress import shown
from otherminds.evaluation.statistics import Estimate, exact, mean, paired, ratio, student, summary_row
from otherminds.evaluation.store import Row, first_columns
from otherminds.files.toml import packaged
from otherminds.language.asking import Asker, plain
from otherminds.language.model import LanguageModel, Usage
from otherminds.language.prices import CallEstimate, CountingModel, Price
from otherminds.observer import rescore
from otherminds.papers.hypothetical_minds.agent import HypotheticalMinds, Lesson
from otherminds.papers.hypothetical_minds.bound import Choice, judged, judged_at_once, margin_of
from otherminds.papers.hypothetical_minds.melting_pot import COOKS, ENOUGH, NORMED, background, partners, score_metrics
from otherminds.papers.hypothetical_minds.players import AGENTS, PLAYERS, SWEEP, ModelAgent, call_counts
from otherminds.papers.hypothetical_minds.programs import ALPHA, HypotheticalCook
from otherminds.papers.hypothetical_minds.verbal.agents import SpeakingCook
from otherminds.papers.hypothetical_minds.verbal.scripted_models import straight
from otherminds.reports.matrix_replay import frame
from otherminds.reports.results import NORMAL
from otherminds.world import rollout_with_minds
from otherminds.worlds.collaborative_cooking.bots import semi_skilled
from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric
from otherminds.worlds.in_the_matrix.bots import MatrixBot
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.scenarios import bot, scenario, scenarios
from otherminds.worlds.in_the_matrix.strategies import Aim, play_of
from otherminds.worlds.in_the_matrix.world import InTheMatrix

EXPERIMENT = "hypothetical"
SUBJECTS = tuple(PLAYERS)
COOKING = ("programs", "random")  # the programs that play in kitchens, too
FILMED = ("rws_repeated_4", "pd_repeated_8", "rws_repeated_1", "rws_arena_6")  # scenarios shown in the report
SMALL = ("rws_repeated_6", "pd_repeated_3", "rws_arena_0", "cooking_asymmetric_0")  # of a quick run with a model
EVERYBODY = (*FILMED, *SMALL)  # scenarios of a quick run that others play beside programs, which play all
SPOKEN: Mapping[str, Sequence[str]] = {"quick": ("HM",), "normal": ("HM",), "full": (*AGENTS, *SWEEP)}
BOUND = "bound"
EXACT = ("prediction_loss", "planning_loss")  # computed from the true strategy, and so never negative
LOSSES = (*EXACT, "inventory_loss", "meetings_loss")
COMPARED = (BOUND, "last_play", "ppo")  # agents from which the differences of all others are given
NEAR = 0.9  # share of the bound's score that is near it; chosen
MindMaker = Callable[[Any, str, np.random.Generator], Any]
"""A function of a world, an agent's name in it, and a generator, that returns the agent's mind."""
THRESHOLD = 0.7  # value from which on a theory is validated (Cross et al. 2024, table 2)
SOURCE = "Cross et al. 2024, Table 1: HM with GPT-4, against neural bodies"
SHOWN, LONGEST = 4, 200  # hypotheses of a row, and characters of each


# Plan


@dataclass(frozen=True)
class ScenarioEntry:
    """One episode of a scenario with an agent and, if one is named, a language model; `filmed` for the report."""

    scenario: str
    agent: str
    number: int
    seed: int
    model: str = ""
    filmed: bool = False

    @property
    def subject(self) -> str:
        """The agent, with its model if it has one."""
        return f"lm:{self.model.replace(':', '-')}:{self.agent}" if self.model else self.agent

    @property
    def key(self) -> tuple[str, str, str]:
        """Its condition, subject and episode in the rows."""
        return (self.scenario, self.subject, str(self.number))

    @property
    def cooks(self) -> bool:
        """Whether it takes place in a kitchen."""
        return scenario(self.scenario).substrate.startswith("cooking")


def plan(
    episodes: int, seed: int, agents: Sequence[str] = SUBJECTS, only: str | None = None, model: str = ""
) -> list[ScenarioEntry]:
    """Episodes of every scenario, or of one, with every agent; in kitchens, with every agent that can cook.

    Raises InputError for an unknown scenario or agent.
    """
    specs = [scenario(only)] if only is not None else [spec for spec in scenarios() if spec.upstream]
    for agent in agents:
        if model:
            ModelAgent.parse(agent)
        elif agent not in PLAYERS:
            raise unknown("agent", plain(agent), PLAYERS, "others want --model")
    able = {agent for agent in agents if (ModelAgent.parse(agent).cooks if model else agent in COOKING)}
    entries = (
        ScenarioEntry(spec.id, agent, n, seed, model, filmed=n == 0 and bool(only or spec.id in FILMED))
        for spec in specs
        for agent in agents
        for n in range(episodes)
    )
    return [entry for entry in entries if not entry.cooks or entry.agent in able]


def spoken_plan(
    scale: str, episodes: int, seed: int, model: str, agents: Sequence[str] = (), only: str | None = None
) -> list[ScenarioEntry]:
    """The episodes of a language model: by default Hypothetical Minds in all scenarios, or in one of each world.

    Raises InputError for an unknown scenario or agent.
    """
    entries = plan(episodes, seed, agents or SPOKEN[scale], only, model)
    return [entry for entry in entries if only or scale != "quick" or entry.scenario in SMALL]


# Play


def rows(entry: ScenarioEntry, model: LanguageModel | None = None, make: MindMaker | None = None) -> list[Row]:
    """Play an episode: a row for every meeting, or every time that a cook thought, and a last one with the score.

    Who is met, and all chance that is not the agent's own, is the same for all agents: (seed, scenario, episode).
    With `make`, the mind that it returns plays, and the entry's agent is only a name.
    """
    about = first_columns(EXPERIMENT, entry.key, entry.seed)
    asker = None if model is None else Asker(model, " ".join(entry.key), entry.seed)
    return [about | row for row in (_kitchen_rows if entry.cooks else _matrix_rows)(entry, asker, make)]


def _streams(entry: ScenarioEntry, agents: Sequence[str]) -> dict[str, np.random.Generator]:
    """The random stream of each player, by its place in the world. Only the first one's depends on the agent."""
    me, *co_players = agents
    return {me: stream(entry.seed, *entry.key)} | {role: _stream(entry, role) for role in co_players}


def _stream(entry: ScenarioEntry, role: str) -> np.random.Generator:
    return stream(entry.seed, entry.scenario, str(entry.number), role)


def _matrix_rows(entry: ScenarioEntry, asker: Asker | None, make: MindMaker | None) -> list[Row]:
    """Play an episode in a matrix world: a row for each meeting, and a last one with the score."""
    world = in_the_matrix(scenario(entry.scenario).substrate)
    me, *co_players = world.agents
    names = partners(entry.scenario, len(co_players), entry.seed, entry.number)
    action_rngs = _streams(entry, world.agents)
    minds: dict[str, Any] = {
        a: background(world, a, bot(n), action_rngs[a]) for a, n in zip(co_players, names, strict=True)
    }
    if make is not None:
        minds[me] = make(world, me, action_rngs[me])
    elif asker is None:
        minds[me] = PLAYERS[entry.agent](world, me, names, action_rngs[me])
    else:
        minds[me] = ModelAgent.parse(entry.agent).in_matrix(world, me, asker, action_rngs[me])
    met, reward, steps, mind, film = _play(world, minds, _stream(entry, "world"), action_rngs, filmed=entry.filmed)
    lessons = mind.lessons if isinstance(mind, HypotheticalMinds) else ()
    choices = _choices_before_meetings(world, names, [row for row in met if row["t"] + world.rules.frozen < steps])
    meetings = [
        _meeting_row(row, lesson, choice, world.rules.reward(row["own"], row["theirs"])[0])
        for row, lesson, choice in zip_longest(met, lessons[: len(met)], choices)
    ]
    last_row = {"steps": steps, "reward": reward, "meetings": len(meetings), "bots": list(names)}
    extra = (call_counts(mind) if asker else {}) | ({"film": film} if film else {})
    return [*meetings, last_row | {"score": reward * NORMED / steps} | extra]


def _choices_before_meetings(world: InTheMatrix, names: Sequence[str], paid: Sequence[Row]) -> list[Choice]:
    """What was lost by the choice before each meeting that was paid; empty if a partner has no strategy."""
    strategies = [strategy for strategy in (bot(name).strategy for name in names) if strategy is not None]
    if len(strategies) < len(names):
        return []
    margin, own_kinds = margin_of(names), [row["wanted"] for row in paid]
    if len(names) == 1:
        return judged(world.rules, strategies[0], margin, [(row["own"], row["theirs"]) for row in paid], own_kinds)
    return [judged_at_once(world.rules, Aim(*row["meant"]), margin, row["wanted"]) for row in paid]


def _meeting_row(met: Row, lesson: Lesson | None, choice: Choice | None, reward: float) -> Row:
    """A meeting, what was expected of it, and what its choice lost; agents without a theory have no lesson."""
    row = met | {"reward": reward}
    if choice is not None:
        row |= {"best": choice.best, "regret": choice.best - reward, "loss": choice.loss}
    if lesson is None:
        return row
    row["expected"] = [lesson.expected.prob(kind) for kind in range(len(met["own"]))]
    row |= {"inferred": lesson.theirs, "hypotheses": _reported(lesson.theory.ranked)}
    row |= {} if choice is None else {"foreseen": lesson.expected.mode in choice.likeliest}
    play = play_of(met["theirs"])
    checkable = play is not None and lesson.partner is not None
    return row | ({"correct": lesson.expected.mode == play} if checkable else {})


def _kitchen_rows(entry: ScenarioEntry, asker: Asker | None, make: MindMaker | None) -> list[Row]:
    """Play an episode in a kitchen: a row for each occasion on which the cook thought, and one with the score."""
    world = cooking_asymmetric()
    names = partners(entry.scenario, 1, entry.seed, entry.number)
    me, partner = world.agents
    rng = _stream(entry, "world")
    action_rngs = _streams(entry, world.agents)
    cook: Any
    if make is not None:
        cook = make(world, me, action_rngs[me])
    elif asker is not None:
        cook = ModelAgent.parse(entry.agent).in_kitchen(world, me, asker)
    elif entry.agent == "programs":
        cook = HypotheticalCook.initial(world)
    else:
        cook = semi_skilled(world, slip=1.0)
    reward = 0.0
    cooks = {me: cook, partner: COOKS[bot(names[0]).rule](world)}
    for step, minds in rollout_with_minds(world, cooks, rng=rng, acts=action_rngs):
        reward, cook = reward + step.after.rewards[0], minds[me]
    records = cook.theory.records if isinstance(cook, SpeakingCook) else ()
    thoughts = [
        {"t": record.occasion.situation.t, "why": record.occasion.why, "hypotheses": _reported(record.ranked)}
        for record in records
    ]
    last_row = {"steps": world.steps, "reward": reward, "meetings": round(reward / world.pay), "bots": list(names)}
    return [*thoughts, last_row | {"score": reward} | (call_counts(cook) if asker else {})]


def _reported(hypotheses: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """The best hypotheses for a row: shortened texts, and values with four digits."""
    return [(text[:LONGEST], round(value, 4)) for text, value in hypotheses[:SHOWN]]


def _play(
    world: InTheMatrix,
    minds: Mapping[str, Any],
    rng: np.random.Generator,
    acts: Mapping[str, np.random.Generator],
    *,
    filmed: bool = False,
) -> tuple[list[Row], float, int, Any, Row]:
    """An episode of the first player: meetings, reward, steps, its mind at the end, and the film for the viewer.

    A meeting has the step, the partner, what both players held, the kind that the first one wanted to play (if it had
    an aim, else the one it played), and the partner's aim.
    """
    met, reward, steps, film = list[Row](), 0.0, 0, Row()
    for step, after in rollout_with_minds(world, minds, rng=rng, acts=acts):
        state = step.after
        reward, steps = reward + state.rewards[0], state.t
        if filmed:
            film = film or {"kinds": step.state.kinds, "frames": [frame(step.state)]}
            film["frames"].append(frame(state))
        if state.met[0] is not None:
            own, theirs = state.met[0]
            partner = next(j for j, meeting in enumerate(state.met) if j and meeting == (theirs, own))
            aims = [_aim(minds[world.agents[j]]) for j in (0, partner)]
            own_kind = play_of(own) if aims[0] is None else aims[0].kind
            met.append({"t": steps, "partner": partner, "own": own, "theirs": theirs, "wanted": own_kind})
            met[-1] |= {} if aims[1] is None else {"meant": (aims[1].kind, aims[1].margin)}
        minds = after
    return met, reward, steps, minds[world.agents[0]], film


def _aim(mind: object) -> Aim | None:
    """What a player is gathering, if it has an aim."""
    if isinstance(mind, HypotheticalMinds):
        return mind.aim
    return mind.state.aim if isinstance(mind, MatrixBot) else None


def estimate(entries: Sequence[ScenarioEntry]) -> CallEstimate:
    """The calls and tokens of a plan, found by playing an episode of each agent in each world with a program."""
    counts = Counter((scenario(entry.scenario).substrate, entry.agent) for entry in entries)
    entry_of_kind = {(scenario(entry.scenario).substrate, entry.agent): entry for entry in reversed(entries)}
    total = CallEstimate(0, Usage())
    for about, entry in shown(entry_of_kind.items(), len(entry_of_kind), "Estimating"):
        model = CountingModel(straight)
        rows(replace(entry, filmed=False), model)
        usage = Usage(*(tokens * counts[about] for tokens in model.usage))
        total = CallEstimate(total.calls + model.calls * counts[about], total.usage + usage)
    return total


# Scores


def summarise(all_rows: Sequence[Row], price: Price | None = None) -> Iterator[Row]:
    """Scores in 1200 steps, literal accuracy (also once validated), and functional regret a meeting, with intervals.

    A theory is validated when the Rescorla–Wagner value of its predictions, V ← V + α (±1 − V), is at the threshold.
    `minus_bound` and the like are paired differences of scores over the episodes that both agents played; the losses
    add up to the bound's score less the agent's (see `Played`); `near_bound` is in how many scenarios an agent has 90 %
    of the bound's score. If a language model has a price, there are also the dollars an episode costs.
    """
    grouped: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in all_rows:
        grouped[row["condition"], row["subject"]].append(row)
    episodes = {
        about: {episode.episode: episode for episode in _played(subject_rows)}
        for about, subject_rows in grouped.items()
    }
    scores, shares = dict[str, float](), defaultdict[str, list[float]](list)
    for (condition, subject), subject_rows in grouped.items():
        metrics = _metrics(subject_rows, price)
        if subject == "programs":
            scores[condition] = metrics["score"].value
        for baseline in COMPARED:
            if baseline != subject and (condition, baseline) in episodes:
                metrics |= _differences(episodes[condition, subject], baseline, episodes[condition, baseline])
        if "of_bound" in metrics:
            shares[subject].append(metrics["of_bound"].value)
        for metric, value in metrics.items():
            yield _summary_row(condition, subject, metric, value)
    for subject, ratios in shares.items():
        yield _summary_row("all", subject, "near_bound", exact(sum(share >= NEAR for share in ratios), len(ratios)))
    yield from _beside_published_scores(
        scores,
        enough=len(
            {
                episode
                for (_, agent), subject_rows in episodes.items()
                if agent == "programs"
                for episode in subject_rows
            }
        )
        >= ENOUGH,
    )


def _summary_row(condition: str, subject: str, metric: str, value: Estimate) -> Row:
    """A summary row, beside the paper's score and its interval if it is the score of programs."""
    row = summary_row(EXPERIMENT, condition, subject, metric, value)
    if (subject, metric) != ("programs", "score") or condition not in published():
        return row
    score, error = published()[condition]["hm"]
    row |= {"published": score, "published_low": score - NORMAL * error, "published_high": score + NORMAL * error}
    return row | {"source": SOURCE}


def _beside_published_scores(scores: Mapping[str, float], *, enough: bool) -> Iterator[Row]:
    """In how many scenarios programs score at least as published, if there are enough episodes."""
    mine = {condition: score for condition, score in scores.items() if condition in published()}
    for group in ("all", "rws_arena"):
        conditions = [condition for condition in mine if group in ("all", condition.rpartition("_")[0])]
        if conditions and enough:
            above = sum(mine[condition] >= published()[condition]["hm"][0] for condition in conditions)
            yield _summary_row(group, "programs", "at_least_published", exact(above, len(conditions)))


class Played(NamedTuple):
    """An episode: its score S, and what it lost, in reward in 1200 steps.

    `often` is the number n of paid meetings in 1200 steps, `pay` the mean reward r of a meeting, so S = n r. The loss ℓ
    of each choice is exact, and not negative; `mispredicted` is n times the mean of ℓ over meetings where the partner's
    likeliest play was not foreseen counted and others 0, `misplayed` the same for the others.
    """

    episode: str
    score: float
    often: float | None = None
    pay: float = 0.0
    mispredicted: float = 0.0
    misplayed: float = 0.0

    def losses(self, best: Played) -> dict[str, float]:
        """Its losses to the bound, S* = n* r*: the four add up to S* − S; empty if the partner has no strategy."""
        if self.often is None or best.often is None:
            return {}
        inventory = self.often * (best.pay - self.pay) - self.mispredicted - self.misplayed
        meetings = best.pay * (best.often - self.often)
        return dict(zip(LOSSES, (self.mispredicted, self.misplayed, inventory, meetings), strict=True))


def _played(mine: Sequence[Row]) -> Iterator[Played]:
    """The episodes of an agent in a scenario."""
    judged = defaultdict[str, list[Row]](list)
    for row in mine:
        if "loss" in row:
            judged[row["episode"]].append(row)
    for end in (row for row in mine if "score" in row):
        paid = judged[end["episode"]]
        if not paid:
            yield Played(end["episode"], end["score"])
            continue
        scale = NORMED / end["steps"]
        lost = [sum(row["loss"] for row in paid if row.get("foreseen", True) == well) for well in (False, True)]
        pay = sum(row["reward"] for row in paid) / len(paid)
        yield Played(end["episode"], end["score"], scale * len(paid), pay, scale * lost[0], scale * lost[1])


def _differences(mine: Mapping[str, Played], baseline: str, theirs: Mapping[str, Played]) -> dict[str, Estimate]:
    """Paired differences from another agent; from the bound, also the losses, and the share of its score."""
    pairs = [(episode, theirs[name]) for name, episode in mine.items() if name in theirs]
    if not pairs:
        return {}
    scores = [{name: episode.score for name, episode in episodes.items()} for episodes in (mine, theirs)]
    estimates = {f"minus_{baseline}": paired(*scores)}
    if baseline != BOUND:
        return estimates
    if sum(its.score for _, its in pairs) > 0.0:
        estimates["of_bound"] = ratio([episode.score for episode, _ in pairs], [its.score for _, its in pairs])
    losses = [episode.losses(its) for episode, its in pairs]
    for name in next(filter(None, losses), ()):
        # an interval of exact losses has no part below 0, as losses have none
        estimates[name] = (mean if name in EXACT else student)([lost[name] for lost in losses if lost])
    return estimates


@cache
def published() -> Mapping[str, Mapping[str, Sequence[float]]]:
    """The paper's Table 1: a mean and its standard error for each agent, by scenario."""
    return packaged("otherminds.papers.hypothetical_minds", "published.toml")


def _metrics(mine: Sequence[Row], price: Price | None) -> dict[str, Estimate]:
    """Means over episodes and meetings; with a model also of calls, tokens, dollars and unreadable replies."""
    ends = [row for row in mine if "score" in row]
    estimates = score_metrics(ends)
    checked = [(row, valid) for row, valid in validated(mine) if "correct" in row]
    meetings: dict[str, list[tuple[Row, float]]] = {
        "regret": [(row, row["regret"]) for row in mine if "regret" in row],
        "literal": [(row, row["correct"]) for row, _ in checked],
        "validated": [(row, valid) for row, valid in checked],
        "literal_validated": [(row, row["correct"]) for row, valid in checked if valid],
    }
    for metric, pairs in meetings.items():
        if pairs:
            estimates[metric] = mean([float(value) for _, value in pairs], [row["episode"] for row, _ in pairs])
    if sum(row.get("best", 0.0) for row in mine) > 0.0:
        rewards, bests, names = zip(*((r["reward"], r["best"], r["episode"]) for r in mine if "best" in r), strict=True)
        estimates["of_best_meetings"] = ratio(rewards, bests, names)
    if spoken := [row for row in ends if "calls" in row]:
        counted = ("calls", "prompt_tokens", "written_tokens")
        estimates |= {name: mean([float(row[name]) for row in spoken]) for name in counted}
        if price:
            used = (Usage(row["prompt_tokens"], 0, row["written_tokens"]) for row in spoken)
            estimates["dollars"] = mean([price.cost(usage) for usage in used])
        estimates["unreadable_share"] = mean([row["unreadable"] / max(row["calls"], 1) for row in spoken])
    return estimates


def validated(rows: Sequence[Row]) -> Iterator[tuple[Row, bool]]:
    """Every meeting, and whether the theory of its partner was validated before it."""
    values: dict[tuple[str, int], float] = {}
    for row in rows:
        if "partner" in row:
            key = (row["episode"], row["partner"])
            value = values.get(key, 0.0)
            yield row, value >= THRESHOLD
            if "correct" in row:
                (values[key],) = rescore([value], [1.0 if row["correct"] else -1.0], decay=1.0 - ALPHA, gain=ALPHA)
