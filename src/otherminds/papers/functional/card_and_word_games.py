"""Literal and functional Theory of Mind where a partner gives a sign or takes one: tiny Hanabi and Wavelength.

Any game fits whose rounds are two steps, a clue and an answer, after which everything about the round is in `last`
of the world's state: it takes the fields of `Game`, and no more. (Riemer et al., Appendix A.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import count
from typing import Any

import numpy as np

from otherminds.evaluation.engines import stream
from otherminds.evaluation.literal_functional import tom_percent
from otherminds.evaluation.statistics import Estimate, mean
from otherminds.mind import Mind, Mindreader
from otherminds.world import World
from otherminds.worlds.clue_games import hanabi_players as signalling
from otherminds.worlds.clue_games import wavelength_players as dials
from otherminds.worlds.clue_games.tiny_hanabi import Deal, TinyHanabi
from otherminds.worlds.clue_games.wavelength import Round, Wavelength

EXPERIMENT = "functional"

Row = dict[str, Any]
Reader = Mindreader[Any, int]


@dataclass(frozen=True)
class Game:
    """A clue and answer game as an experiment: what the subject does there, with whom, and what can be earned.

    `seat` is the agent that the subject is. `informed` makes the subject that knows a partner; the others start alike
    with everybody. `told` gives what is `observed`, the `action`, and more about a round that is over. `best` is what
    whoever knows the partner expects of that round, `earned(held, true)` what the best response to one partner gets
    with another. Where predictions are places, `span` is how far apart they can be.
    """

    world: World[Any, Any, int]
    seat: str
    partners: Mapping[str, Mind[Any, int]]
    informed: Callable[[Any], Reader]
    others: Mapping[str, Reader]
    told: Callable[[Any], Row]
    best: Callable[[Any, Any], float]
    earned: Callable[[Any, Any], float]
    span: int | None = None

    def subject(self, name: str, partner: Mind[Any, int]) -> Reader:
        """The subject of this name before the first round. Raises KeyError if there is none."""
        return self.informed(partner) if name == "informed" else self.others[name]

    def interestingness(self) -> float:
        """I = E[Δ(BR(π′), π″)] per round over independent draws of two partners, exactly (Riemer et al., §2.1)."""
        pairs = [(held, true) for held in self.partners.values() for true in self.partners.values()]
        return sum(self.earned(true, true) - self.earned(held, true) for held, true in pairs) / len(pairs)


@cache
def games() -> Mapping[str, Game]:
    """The games by the names of their conditions."""
    return {"hanabi/signals": _hanabi(TinyHanabi()), "wavelength/dials": _wavelength(Wavelength())}


def _hanabi(world: TinyHanabi) -> Game:
    def told(deal: Deal) -> Row:
        return {"observed": deal.cards[0], "action": deal.action, "card": deal.cards[1], "signal": deal.signal}

    return Game(
        world=world,
        seat="listener",
        partners={partner.name: partner for partner in signalling.signallers(world)},
        informed=partial(signalling.informed, world),
        others={
            "bayesian": signalling.bayesian(world),
            "egocentric": signalling.egocentric(world),
            "blind": signalling.blind(world),
        },
        told=told,
        best=lambda partner, deal: signalling.best(world, partner, deal.cards[1], deal.signal),
        earned=partial(signalling.earned, world),
    )


def _wavelength(world: Wavelength) -> Game:
    def told(played: Round) -> Row:
        spectrum = world.spectra[played.spectrum]
        words = {"spectrum": f"{spectrum.low}–{spectrum.high}", "clue": spectrum.clues[played.clue]}
        return {"observed": played.guess, "action": played.clue, "target": played.target, **words}

    return Game(
        world=world,
        seat="giver",
        partners={partner.name: partner for partner in dials.guessers(world)},
        informed=dials.informed,
        others={
            "bayesian": dials.bayesian(world),
            "egocentric": dials.egocentric(world),
            "random": dials.random(world),
        },
        told=told,
        best=lambda partner, played: dials.best(partner, played.spectrum, played.target),
        earned=dials.earned,
        span=world.positions - 1,
    )


@dataclass(frozen=True)
class Entry:
    """One episode of the plan: all rounds with one partner. Deals and partner are alike for every subject."""

    condition: str
    partner: str
    subject: str
    seed: int
    number: int = 0

    @property
    def episode(self) -> str:
        """The partner, and which episode with it this is."""
        return f"{self.partner}/{self.number}"

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells the episode apart in the rows."""
        return (self.condition, self.subject, self.episode)


def plan(seed: int, episodes: int = 2) -> list[Entry]:
    """Every subject with every partner of both games, `episodes` times."""
    return [
        Entry(condition, partner, subject, seed, number)
        for condition, game in games().items()
        for subject in ("informed", *game.others)
        for partner in game.partners
        for number in range(episodes)
    ]


def rows(entry: Entry) -> list[Row]:
    """Play an episode and tell it in rows, one per round; the last one has the scores of the episode.

    Functional regret is (1/T) Σ (r*_t − r_t), r*_t being exactly what the best response expects of the round. So it
    is never below 0 in expectation, but luck can make it so.
    """
    game = games()[entry.condition]
    partner = game.partners[entry.partner]
    base = {"schema": 1, "experiment": EXPERIMENT, "condition": entry.condition}
    base |= {"subject": entry.subject, "seed": entry.seed, "episode": entry.episode}
    names = {"deals": "deals", "partner": "partner", "subject": entry.subject}
    streams = {role: stream(entry.seed, entry.condition, entry.episode, name) for role, name in names.items()}
    found = [{**base, **row} for row in play(game, partner, game.subject(entry.subject, partner), streams)]
    regret = sum(row["best"] - row["reward"] for row in found) / len(found)
    found[-1] |= {"functional_regret": regret, "tom_percent": tom_percent(found)}
    return found


Streams = Mapping[str, np.random.Generator]


def play(game: Game, partner: Mind[Any, int], subject: Reader, streams: Streams) -> Iterator[Row]:
    """One episode, a row per round; predictions are made between clue and answer, before anything is revealed.

    `streams` has one for the deals, one for the partner and one for the subject.
    """
    world = game.world
    state = world.start(streams["deals"])
    minds: Mapping[str, Any] = {agent: subject if agent == game.seat else partner for agent in world.agents}
    minds = {agent: mind.observe(world.observe(state, agent)) for agent, mind in minds.items()}
    for t in count():
        if world.done(state):
            return
        state, minds, _ = _turn(game, state, minds, streams)
        expected = minds[game.seat].predict()
        state, minds, reward = _turn(game, state, minds, streams)
        told = game.told(state.last)
        yield {
            "t": t,
            "predicted": expected.mode,
            "p_predicted": expected.prob(expected.mode),
            "p_true": expected.prob(told["observed"]),
            **told,
            "reward": reward,
            "best": game.best(partner, state.last),
        }


def _turn(game: Game, state: Any, minds: Mapping[str, Any], streams: Streams) -> tuple[Any, Mapping[str, Any], float]:
    """One step: the state after it, the minds having seen it, and what it earned the subject."""
    world = game.world
    own = {agent: streams["subject" if agent == game.seat else "partner"] for agent in world.agents}
    joint = {agent: mind.act().sample(own[agent]) for agent, mind in minds.items()}
    after = world.step(state, joint, streams["deals"])
    seen = {agent: mind.observe(world.observe(after, agent)) for agent, mind in minds.items()}
    return after, seen, world.reward(state, joint, after)[game.seat]


def summarise(rows: Sequence[Row]) -> list[Row]:
    """Both scores of every subject with bootstrap intervals over episodes, and the interestingness of each game.

    Wavelength also has the literal error: the mean distance of guesses from the predicted ones, as a share of the dial.
    """
    table = []
    for condition in dict.fromkeys(row["condition"] for row in rows):
        game, chosen = games()[condition], [row for row in rows if row["condition"] == condition]
        scores = {
            subject: _scores(game, [row for row in chosen if row["subject"] == subject])
            for subject in dict.fromkeys(row["subject"] for row in chosen)
        }
        value = game.interestingness()
        scores["task"] = {"interestingness": Estimate(value, value, value, len(game.partners))}
        for subject, found in scores.items():
            about = {"experiment": EXPERIMENT, "condition": condition, "subject": subject}
            table += [{**about, "metric": metric, **estimate._asdict()} for metric, estimate in found.items()]
    return table


def _scores(game: Game, rows: Sequence[Row]) -> dict[str, Estimate]:
    ends = [row for row in rows if "functional_regret" in row]
    clusters = [row["episode"] for row in ends]
    found = {name: mean([row[name] for row in ends], clusters) for name in ("functional_regret", "tom_percent")}
    if game.span is not None:
        errors = [abs(row["predicted"] - row["observed"]) / game.span for row in rows]
        found["literal_error"] = mean(errors, [row["episode"] for row in rows])
    return found
