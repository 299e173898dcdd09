"""ProToM in Doors-Keys-Gems: levels played with and without help, beside the paper's figures (§4.4)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otherminds.evaluation.assistance import outcomes, share_of_speedup, summarise
from otherminds.evaluation.inference import quality
from otherminds.evaluation.run import stream
from otherminds.minds.favours import Favour, Favours
from otherminds.minds.locked_map import Goal
from otherminds.minds.seeker import Seeker
from otherminds.minds.told import Purposeful
from otherminds.observer import Observer
from otherminds.systems.facilitation import Chatter, Episode, Facilitator, Moment, Silent
from otherminds.systems.protom import ProToM
from otherminds.worlds.doors_keys_gems import Action, State
from otherminds.worlds.level_files import Level

EXPERIMENT = "protom-dkg"
SUBJECTS = ("none", "random", "oracle", "protom")
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "oracle": {},
    "protom": {},
    "protom_traj": {"epsilon": 0.1, "gate": "traj"},
    "protom_lookahead": {"epsilon": 0.3, "waits": (1, 2, 4, 8)},
    **{f"protom_epsilon_{epsilon}": {"epsilon": epsilon} for epsilon in (0.1, 0.3, 0.4, 0.6)},
}
HELD_OUT = ("none", "random", "oracle", "protom", "protom_epsilon_0.1", "protom_traj", "protom_lookahead")
TUNING = ("none", "oracle", "protom", *(name for name in VARIANTS if "epsilon" in name))

Row = dict[str, Any]
DKGFacilitator = Facilitator[State, Action, Favour]
DKGMoment = Moment[State, Action, Favour]


@dataclass(frozen=True)
class Entry:
    """One episode of the plan: a level with a facilitator. The same people play it with every facilitator."""

    level: Level
    subject: str
    condition: str
    seed: int

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells the episode apart in the rows."""
        return (self.condition, self.subject, self.level.name)


def facilitator(subject: str, level: Level, favours: Favours) -> DKGFacilitator:
    """The facilitator of this name. The oracle is ProToM with observers that consider the true goals only."""
    if subject == "none":
        return Silent()
    if subject == "random":
        return Chatter(favours)
    world = level.world
    gems = range(len(world.gems))
    watchers: dict[str, Observer[Purposeful[Action]]] = {
        agent: Observer.over(
            Seeker(favours.plans, i, Goal("gem", gem)) for gem in ([world.goals[i]] if subject == "oracle" else gems)
        )
        for i, agent in enumerate(world.agents)
    }
    return ProToM.beginning(world, favours, watchers, world.initial, **VARIANTS[subject])


def people(level: Level, favours: Favours) -> dict[str, Seeker]:
    """The simulated people: perfectly rational for themselves, breaking ties at random (ProToM §4.4)."""
    world = level.world
    return {
        agent: Seeker(favours.plans, i, Goal("gem", world.goals[i]), beta=math.inf, lapse=0.0)
        for i, agent in enumerate(world.agents)
    }


def episode(entry: Entry, favours: Favours | None = None) -> Episode[State, Action, Favour]:
    """An episode ready to be played: a pure function of its entry. Plans may be shared; that only saves time."""
    favours = favours or Favours(entry.level.world)
    return Episode(
        world=entry.level.world,
        minds=people(entry.level, favours),
        facilitator=facilitator(entry.subject, entry.level, favours),
        messages=favours,
        horizon=entry.level.horizon,
        people_rng=stream(entry.seed, "people", entry.level.name),
        facilitator_rng=stream(entry.seed, entry.subject, entry.level.name),
    )


def rows(entry: Entry) -> list[Row]:
    """Play an episode and tell it in rows: one per decision of each person and of the facilitator."""
    favours = Favours(entry.level.world)
    played = episode(entry, favours)
    moments = list(played)
    told = [row for t, moment in enumerate(moments) for row in _moment_rows(entry, favours, t, moment)]
    world = entry.level.world
    success = world.done(moments[-1].after if moments else world.initial)
    if played.status is not None:
        told[-1]["outcome"] = played.status
    told[-1] |= {"success": success, "length": len(moments) if success else entry.level.horizon}
    return told


def _moment_rows(entry: Entry, favours: Favours, t: int, moment: DKGMoment) -> Iterator[Row]:
    world = entry.level.world
    base = {
        "schema": 1,
        "experiment": EXPERIMENT,
        "condition": entry.condition,
        "subject": entry.subject,
        "seed": entry.seed,
        "episode": entry.level.name,
        "t": t,
    }
    rewards = world.reward(moment.state, moment.joint, moment.after)
    for i, agent in enumerate(world.agents):
        deed = {"agent": agent, "action": world.spell(moment.joint[agent]), "reward": rewards[agent]}
        yield {**base, **deed, "goal": world.gems[world.goals[i]].colour, **_belief(entry, moment, i)}
    yield {**base, "agent": "facilitator", **_advice(favours, moment, "/" not in entry.condition)}


def _belief(entry: Entry, moment: DKGMoment, i: int) -> Row:
    world = entry.level.world
    belief = moment.beliefs.get(world.agents[i])
    if belief is None or entry.subject == "oracle":
        return {}
    posterior = {world.gems[goal.thing].colour: p for goal, p in belief if isinstance(goal, Goal)}
    return {
        "posterior": posterior,
        "predicted": max(posterior, key=posterior.__getitem__),
        "p_true": posterior[world.gems[world.goals[i]].colour],
    }


def _advice(favours: Favours, moment: DKGMoment, in_full: bool) -> Row:
    decision = moment.decision
    said = decision.message
    prices = [
        {"message": favours.address(f), "saves": saves, "changes": changes} for f, saves, changes in decision.prices
    ]
    return {
        "action": favours.address(said) if said else "",
        "ms": moment.ms,
        **({"words": decision.words} if said else {"why": decision.silence}),
        **({"status": moment.status} if moment.status else {}),
        **({"prices": prices} if prices and in_full else {}),
    }


def plan(levels: Sequence[Level], subjects: Sequence[str], *, seed: int, prefix: str = "") -> list[Entry]:
    """Every level with every facilitator; `prefix` goes before the class in the name of the condition."""
    return [
        Entry(level, subject, prefix + (level.kind or "unclassified"), seed) for level in levels for subject in subjects
    ]


def assess(rows: Sequence[Row], prefix: str = "") -> list[Row]:
    """The summary of some episodes: what help was worth, and how well goals were inferred, by class."""
    found = outcomes(rows)
    table = summarise(found, prefix=prefix)
    for condition in (prefix + "all", *dict.fromkeys(o.condition for o in found)):
        chosen = [row for row in rows if condition in (prefix + "all", row["condition"])]
        for subject in dict.fromkeys(o.subject for o in found):
            for metric, estimate in quality(row for row in chosen if row["subject"] == subject).items():
                about = {"condition": condition, "subject": subject, "metric": metric}
                table.append({**about, **estimate._asdict()})
    without = {o.episode: o.length for o in found if o.subject == "none"}
    useful = [o for o in found if o.condition == prefix + "useful"]
    helped = any(o.subject == "oracle" and o.length < without[o.episode] for o in useful)
    for subject in dict.fromkeys(o.subject for o in useful if helped and o.subject.startswith("protom")):
        share = share_of_speedup(useful, subject, "oracle")
        about = {"condition": prefix + "useful", "subject": subject, "metric": "share_of_oracle_speedup"}
        table.append({**about, **share._asdict()})
    return [{"experiment": EXPERIMENT, **row} for row in table]
