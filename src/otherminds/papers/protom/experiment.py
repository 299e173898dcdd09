"""Experiments with facilitators: simulated people play each level once with each facilitator; rows and summaries."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil
from typing import Any, NamedTuple

from otherminds.distribution import Categorical
from otherminds.evaluation import statistics as st
from otherminds.evaluation.assistance import FACILITATOR, outcomes, quality, reasons, share_of_speedup, summarise
from otherminds.evaluation.engines import stream
from otherminds.evaluation.statistics import Estimate, summary_row
from otherminds.files.text import printable
from otherminds.language.asking import Asker
from otherminds.language.model import LanguageModel, Request, Usage
from otherminds.language.prices import CHARACTERS_PER_TOKEN, TOKENS_PER_IMAGE, CallEstimate
from otherminds.language.scripted import Scripted, text_of
from otherminds.mind import GoalDirected, WithErrand, own_mind
from otherminds.papers.protom import episodes
from otherminds.papers.protom.episodes import Decision, FacilitatedEpisode, Facilitator, Messages
from otherminds.papers.protom.language_facilitator import ModelDecision
from otherminds.world import World
from otherminds.worlds.doors_keys_gems.level_files import Level
from otherminds.worlds.overcooked.level_files import KitchenLevel

SUBJECTS = ("none", "random", "oracle", "protom")
REPLY_TOKENS = 300  # of a language model's reply, which has about a hundred; chosen
REPLY_CHARACTERS = 300  # characters of each reply that rows keep: enough to see what the model wrote

Row = dict[str, Any]


@dataclass(frozen=True)
class PlannedEpisode:
    """One planned episode: a level and a facilitator's name. The same people play a level with every facilitator.

    people: of what kind they are, see `otherminds.papers.protom.people`. max_tokens: of a language model's reply.
    """

    level: Level | KitchenLevel
    subject: str
    condition: str
    seed: int
    people: str = ""
    max_tokens: int = REPLY_TOKENS

    @property
    def key(self) -> tuple[str, str, str]:
        """Condition, subject and level: what identifies the episode in the rows."""
        return (self.condition, self.subject, self.level.name)

    def asker(self, model: LanguageModel) -> Asker:
        """The model with the settings of this episode."""
        return Asker(model, " ".join(self.key), self.seed, temperature=0.0, max_tokens=self.max_tokens)


class EpisodeSetup(NamedTuple):
    """The participants of an episode, and how rows name what they do.

    goals: the name of each person's goal. name: the name of a goal. spell: an action in words. obedience: the
    probability that people follow a message. aimless: a person that has no goal, whatever is noted.
    """

    world: World[Any, Any, Any]
    people: Mapping[str, GoalDirected[Any]]
    facilitator: Facilitator[Any, Any, Any]
    messages: Messages[Any, Any, Any]
    goals: Mapping[str, str]
    name: Callable[[Any], str]
    spell: Callable[[Any], str]
    obedience: float = 1.0
    aimless: str = ""


def episode(entry: PlannedEpisode, setup: EpisodeSetup) -> FacilitatedEpisode[Any, Any, Any]:
    """The episode, ready to be played: a pure function of entry and setup."""
    people_rng, own_rng = (stream(entry.seed, name, entry.level.name) for name in ("people", entry.subject))
    horizon = entry.level.horizon
    return FacilitatedEpisode(
        setup.world, setup.people, setup.facilitator, setup.messages, horizon, people_rng, own_rng, setup.obedience
    )


def estimate(
    entries: Sequence[PlannedEpisode], setup: Callable[..., EpisodeSetup], *, pictures: bool = False
) -> CallEstimate:
    """The calls and tokens of a plan if the model never sends a message and every reply can be read.

    This is an upper bound for readable replies: while a message is under way the model is not asked. `setup` is that of
    the world, called with an entry and a model.
    """
    used: list[Usage] = []

    def silent(request: Request) -> str:
        """The shortest readable reply, which sends no message; its tokens are counted."""
        prompt = ceil(len(text_of(request)) / CHARACTERS_PER_TOKEN) + TOKENS_PER_IMAGE * pictures
        used.append(Usage(prompt, 0, request.max_tokens))
        menus = json.loads(request.schema)["properties"]["goals"]["properties"]
        goals = {agent: menu["enum"][0] for agent, menu in menus.items()}
        return json.dumps({"goals": goals, "reason": "", "choice": 0})

    for entry in entries:
        for _ in episode(entry, setup(entry, model=Scripted("silent", silent))):
            pass
    return CallEstimate(len(used), sum(used, Usage()))


def rows(experiment: str, entry: PlannedEpisode, setup: EpisodeSetup) -> list[Row]:
    """Play an episode; a row for each decision of each person and of the facilitator, at every step.

    The last row says whether all succeeded, after how many steps, and when each person had what it wants (`finished`).
    """
    run = episode(entry, setup)
    table = list[Row]()
    finished = dict.fromkeys(setup.world.agents, None) | dict[str, int | None]()
    t = -1
    moment: episodes.Moment[Any, Any, Any] | None = None
    about = {"condition": entry.condition, "subject": entry.subject, "seed": entry.seed, "episode": entry.level.name}
    for t, moment in enumerate(run):
        finished |= {person: t for person, mind in run.minds.items() if mind.reached and finished[person] is None}
        base = {"schema": 1, "experiment": experiment, **about, "t": t}
        rewards = setup.world.reward(moment.state, moment.joint, moment.after)
        goals = {person: setup.name(mind.goal) for person, mind in run.minds.items() if mind.goal is not None}
        goals = {**setup.goals, **goals}
        beliefs = {} if entry.subject == "oracle" else moment.beliefs
        for agent in setup.world.agents:
            action = {"agent": agent, "action": setup.spell(moment.joint[agent]), "reward": rewards[agent]}
            belief = beliefs.get(agent)
            inferred = {} if belief is None else belief_row(setup, goals[agent], belief)
            inferred |= {"surprise": moment.surprise[agent]} if inferred and agent in moment.surprise else {}
            table.append({**base, **action, "goal": goals[agent], **inferred})
        by_address = statuses(setup, moment.statuses)
        decided = decision_row(setup, moment.decision, by_address, moment.ms, in_full="/" not in entry.condition)
        if decided["action"]:
            decided["gains"] = true_gains(setup, run.minds, moment, entry.level.horizon)
        table.append({**base, "agent": FACILITATOR, **decided})
    finished |= {person: t + 1 for person, mind in run.minds.items() if mind.reached and finished[person] is None}
    success = setup.world.done(moment.after if moment else setup.world.start(run.people_rng))
    if run.statuses:
        table[-1] |= {"outcome": run.status, "outcomes": statuses(setup, run.statuses)}
    table[-1] |= {"success": success, "length": t + 1 if success else entry.level.horizon, "finished": finished}
    table[-1] |= {"aimless": setup.aimless} if setup.aimless else {}
    return table


def true_gains(
    setup: EpisodeSetup, minds: Mapping[str, GoalDirected[Any]], moment: episodes.Moment[Any, Any, Any], horizon: int
) -> dict[str, int]:
    """The steps that each person saves if the message of this moment is followed, forecast from their true minds."""
    state, message, finish = moment.state, moment.decision.message, setup.messages.finish
    helper = setup.messages.helper(message)
    mind = own_mind(minds[helper])
    with_errand = WithErrand(mind, setup.messages.errand(state, message, mind))
    alone, helped = (finish(state, [*{**minds, helper: m}.values()], horizon) for m in (mind, with_errand))
    gains = zip(minds, alone, helped, strict=True)
    return {agent: 0 if agent == setup.aimless else a - h for agent, a, h in gains}


def belief_row(setup: EpisodeSetup, true: str, belief: Categorical[Hashable]) -> Row:
    """The columns with the facilitator's belief about an agent's goal: posterior, its mode, and P(true goal)."""
    posterior = {setup.name(goal): p for goal, p in belief}
    return {
        "posterior": posterior,
        "predicted": max(posterior, key=posterior.__getitem__),
        "p_true": posterior.get(true, 0.0),
    }


def statuses(setup: EpisodeSetup, by_message: Mapping[Any, episodes.Status]) -> dict[str, episodes.Status]:
    """The statuses of messages by their short form."""
    return {setup.messages.address(message): status for message, status in by_message.items()}


def decision_row(
    setup: EpisodeSetup,
    decision: Decision[Any],
    statuses: Mapping[str, episodes.Status],
    ms: float,
    *,
    in_full: bool = True,
) -> Row:
    """The columns with the facilitator's message or reason for silence, and the statuses of messages under way.

    in_full: with the utilities of all messages (column `prices`). A language model's decision also has its replies, the
    number of unreadable ones, and the tokens used.
    """
    address, message = setup.messages.address, decision.message
    prices = [
        {"message": address(u.message), "saves": u.saves, "changes": u.changes, "worth": u.worth}
        for u in decision.utilities
    ]
    row: Row = {"action": "" if message is None else address(message), "ms": ms}
    row |= {"why": decision.silence} if message is None else {"words": decision.words}
    if reason := decision.reason:
        row |= {"friends": list(reason.friends), "sure": reason.sure, "saves": reason.saves}
        row |= {} if reason.goal is None else {"stated": setup.name(reason.goal), "stated_p": reason.probability}
    row |= {"status": episodes.latest_status(statuses.values()), "statuses": statuses} if statuses else {}
    row |= {"prices": prices} if prices and in_full else {}
    if isinstance(decision, ModelDecision):
        used = sum((exchange.usage for exchange in decision.said), Usage())
        row |= {
            "said": [{"read": e.reading, "text": printable(e.text[:REPLY_CHARACTERS])} for e in decision.said],
            "unreadable": sum(not exchange.readable for exchange in decision.said),
            "tokens": used.prompt + used.written,
            "evaluated": used.prompt - used.cached + used.written,
        }
    return row


def plan(
    levels: Sequence[Level] | Sequence[KitchenLevel],
    subjects: Sequence[str],
    *,
    seed: int,
    prefix: str = "",
    people: str = "",
) -> list[PlannedEpisode]:
    """Every level with every facilitator; the condition is `prefix` followed by the level's class."""
    return [
        PlannedEpisode(level, subject, prefix + (level.kind or "unclassified"), seed, people)
        for level in levels
        for subject in subjects
    ]


def assess(experiment: str, rows: Sequence[Row], prefix: str = "") -> list[Row]:
    """The summary of episodes, by class of level: the effect of help, and the quality of goal inference."""
    all_outcomes = outcomes(rows)
    table = [{"experiment": experiment, **row} for row in summarise(all_outcomes, prefix=prefix)]
    without = {row["episode"]: row for row in rows if row["subject"] == "none" and "length" in row}
    for condition in (prefix + "all", *dict.fromkeys(o.condition for o in all_outcomes)):
        condition_rows = [row for row in rows if condition in (prefix + "all", row["condition"])]
        for subject in dict.fromkeys(o.subject for o in all_outcomes):
            own = [row for row in condition_rows if row["subject"] == subject]
            metrics = {**quality(own), **reasons(own, without), **reply_metrics(own)}
            table += [summary_row(experiment, condition, subject, metric, value) for metric, value in metrics.items()]
    useful = [o for o in all_outcomes if o.condition == prefix + "useful"]
    helped = any(o.subject == "oracle" and o.length < without[o.episode]["length"] for o in useful)
    for subject in dict.fromkeys(o.subject for o in useful if helped and o.subject.startswith("protom")):
        share = share_of_speedup(useful, subject, "oracle")
        table.append(summary_row(experiment, prefix + "useful", subject, "share_of_oracle_speedup", share))
    return table


def savings(experiment: str, rows: Sequence[Row], prefix: str) -> list[Row]:
    """The steps that each facilitator saves in an episode, and the share of decisions lost to unreadable replies."""
    all_outcomes = outcomes(rows)
    alone = {outcome.episode: outcome.length for outcome in all_outcomes if outcome.subject == "none"}
    table = []
    for subject in dict.fromkeys(outcome.subject for outcome in all_outcomes):
        saved = [float(alone[o.episode] - o.length) for o in all_outcomes if o.subject == subject]
        metrics = {"saved": st.mean(saved)}
        asked = [row for row in rows if row["subject"] == subject and row.get("said")]
        if asked:
            lost = [float(row["unreadable"] == len(row["said"])) for row in asked]
            metrics["lost_share"] = st.mean(lost, [row["episode"] for row in asked])
        table += [summary_row(experiment, f"{prefix}all", subject, metric, value) for metric, value in metrics.items()]
    return table


def reply_metrics(rows: Sequence[Row]) -> dict[str, Estimate]:
    """A language model's share of unreadable replies, and its replies and tokens per episode; {} if it gave none."""
    mine = [{"replies": len(row.get("said", ())), **row} for row in rows if row["agent"] == FACILITATOR]
    if not any(row["replies"] for row in mine):
        return {}
    by_episode = [list(group) for _, group in groupby(mine, key=lambda row: row["episode"])]
    totals = {
        metric: [float(sum(row.get(metric, 0) for row in episode)) for episode in by_episode]
        for metric in ("unreadable", "replies", "tokens", "evaluated")
    }
    share = st.ratio(totals.pop("unreadable"), totals["replies"])
    return {"unreadable_share": share, **{metric: st.mean(total) for metric, total in totals.items()}}
