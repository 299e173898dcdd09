"""Experiments with facilitators: the same people play every level with each of them, told in rows and summed up."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from otherminds.distribution import Categorical
from otherminds.evaluation import statistics as st
from otherminds.evaluation.assistance import FACILITATOR, outcomes, quality, share_of_speedup, summarise
from otherminds.evaluation.engines import stream
from otherminds.evaluation.statistics import Estimate
from otherminds.files.text import printable
from otherminds.language.model import Usage
from otherminds.mind import GoalDirected
from otherminds.papers.protom.episodes import Decision, Episode, Facilitator, Messages, Moment, Status
from otherminds.papers.protom.language_facilitator import Advice
from otherminds.world import World
from otherminds.worlds.doors_keys_gems.level_files import Level
from otherminds.worlds.overcooked.level_files import KitchenLevel

SUBJECTS = ("none", "random", "oracle", "protom")
SHOWN = 300

Row = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """One episode of a plan: a level with a facilitator. The same people play it with every facilitator."""

    level: Level | KitchenLevel
    subject: str
    condition: str
    seed: int

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells the episode apart in the rows."""
        return (self.condition, self.subject, self.level.name)


class Cast(NamedTuple):
    """Who plays a level, and how to write down what they do: `goals` are the names of what they want.

    obedience: the probability that people do as a message says.
    """

    world: World[Any, Any, Any]
    people: Mapping[str, GoalDirected[Any]]
    facilitator: Facilitator[Any, Any, Any]
    messages: Messages[Any, Any, Any]
    goals: Mapping[str, str]
    name: Callable[[Any], str]
    spell: Callable[[Any], str]
    obedience: float = 1.0


def episode(entry: Entry, cast: Cast) -> Episode[Any, Any, Any]:
    """An episode ready to be played: a pure function of its entry and cast."""
    return Episode(
        world=cast.world,
        minds=cast.people,
        facilitator=cast.facilitator,
        messages=cast.messages,
        horizon=entry.level.horizon,
        people_rng=stream(entry.seed, "people", entry.level.name),
        facilitator_rng=stream(entry.seed, entry.subject, entry.level.name),
        obedience=cast.obedience,
    )


def rows(experiment: str, entry: Entry, cast: Cast) -> list[Row]:
    """Play an episode and tell it in rows: one per decision of each person and of the facilitator."""
    played = episode(entry, cast)
    moments = list(played)
    told = [
        {"schema": 1, "experiment": experiment, **row}
        for t, moment in enumerate(moments)
        for row in _moment_rows(entry, cast, t, moment)
    ]
    success = cast.world.done(moments[-1].after if moments else cast.world.start(played.people_rng))
    if played.status is not None:
        told[-1]["outcome"] = played.status
    told[-1] |= {"success": success, "length": len(moments) if success else entry.level.horizon}
    return told


def _moment_rows(entry: Entry, cast: Cast, t: int, moment: Moment[Any, Any, Any]) -> Iterator[Row]:
    base = {
        "condition": entry.condition,
        "subject": entry.subject,
        "seed": entry.seed,
        "episode": entry.level.name,
        "t": t,
    }
    rewards = cast.world.reward(moment.state, moment.joint, moment.after)
    beliefs = {} if entry.subject == "oracle" else moment.beliefs
    for agent in cast.world.agents:
        deed = {"agent": agent, "action": cast.spell(moment.joint[agent]), "reward": rewards[agent]}
        belief = beliefs.get(agent)
        yield {**base, **deed, "goal": cast.goals[agent], **({} if belief is None else belief_row(cast, agent, belief))}
    advice = advice_row(cast, moment.decision, moment.status, moment.ms, in_full="/" not in entry.condition)
    yield {**base, "agent": FACILITATOR, **advice}


def belief_row(cast: Cast, agent: str, belief: Categorical[Hashable]) -> Row:
    """What the facilitator believes that an agent wants, in columns."""
    posterior = {cast.name(goal): p for goal, p in belief}
    return {
        "posterior": posterior,
        "predicted": max(posterior, key=posterior.__getitem__),
        "p_true": posterior.get(cast.goals[agent], 0.0),
    }


def advice_row(cast: Cast, decision: Decision[Any], status: Status | None, ms: float, *, in_full: bool = True) -> Row:
    """What the facilitator said or why it was silent, and what became of the last message, in columns.

    in_full: with the price of every message that it compared.
    """
    address, said = cast.messages.address, decision.message
    prices = [{"message": address(f), "saves": saves, "changes": changes} for f, saves, changes in decision.prices]
    return {
        "action": "" if said is None else address(said),
        "ms": ms,
        **({"why": decision.silence} if said is None else {"words": decision.words}),
        **({"status": status} if status else {}),
        **({"prices": prices} if prices and in_full else {}),
        **_heard(decision),
    }


def _heard(decision: Decision[Any]) -> Row:
    """What a language model has replied, how much of it could not be read, and what it took; nothing of others."""
    if not isinstance(decision, Advice):
        return {}
    used = sum((said.usage for said in decision.said), Usage())
    return {
        "said": [{"read": said.reading, "text": printable(said.text[:SHOWN])} for said in decision.said],
        "unreadable": sum(not said.readable for said in decision.said),
        "tokens": used.prompt + used.written,
        "evaluated": used.prompt - used.cached + used.written,
    }


def plan(
    levels: Sequence[Level] | Sequence[KitchenLevel], subjects: Sequence[str], *, seed: int, prefix: str = ""
) -> list[Entry]:
    """Every level with every facilitator; `prefix` goes before the class in the name of the condition."""
    return [
        Entry(level, subject, prefix + (level.kind or "unclassified"), seed) for level in levels for subject in subjects
    ]


def assess(experiment: str, rows: Sequence[Row], prefix: str = "") -> list[Row]:
    """The summary of some episodes: what help was worth, and how well goals were inferred, by class."""
    found = outcomes(rows)
    table = summarise(found, prefix=prefix)
    for condition in (prefix + "all", *dict.fromkeys(o.condition for o in found)):
        chosen = [row for row in rows if condition in (prefix + "all", row["condition"])]
        for subject in dict.fromkeys(o.subject for o in found):
            own = [row for row in chosen if row["subject"] == subject]
            for metric, estimate in {**quality(own), **of_replies(own)}.items():
                about = {"condition": condition, "subject": subject, "metric": metric}
                table.append({**about, **estimate._asdict()})
    without = {o.episode: o.length for o in found if o.subject == "none"}
    useful = [o for o in found if o.condition == prefix + "useful"]
    helped = any(o.subject == "oracle" and o.length < without[o.episode] for o in useful)
    for subject in dict.fromkeys(o.subject for o in useful if helped and o.subject.startswith("protom")):
        share = share_of_speedup(useful, subject, "oracle")
        about = {"condition": prefix + "useful", "subject": subject, "metric": "share_of_oracle_speedup"}
        table.append({**about, **share._asdict()})
    return [{"experiment": experiment, **row} for row in table]


def of_replies(rows: Sequence[Row]) -> dict[str, Estimate]:
    """Of a language model: the share of its replies that could not be read; replies and tokens of an episode."""
    mine = [{"replies": len(row.get("said", ())), **row} for row in rows if row["agent"] == FACILITATOR]
    if not any(row["replies"] for row in mine):
        return {}
    episodes = [list(group) for _, group in groupby(mine, key=lambda row: row["episode"])]
    unreadable, replies, tokens, evaluated = (
        [float(sum(row.get(metric, 0) for row in episode)) for episode in episodes]
        for metric in ("unreadable", "replies", "tokens", "evaluated")
    )
    return {
        "unreadable_share": st.ratio(unreadable, replies),
        "replies": st.mean(replies),
        "tokens": st.mean(tokens),
        "evaluated": st.mean(evaluated),
    }
