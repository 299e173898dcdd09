"""Hypothetical Minds in the thirty scenarios: is the partner predicted, and is that put to use?

Every meeting is a row: what was expected of the partner, what it played, what that paid, and what the best reply to
the partner's true strategy would have been worth. Bodies are scripted, so scores compare within this suite.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from otherminds.evaluation.engines import stream
from otherminds.evaluation.progress import shown
from otherminds.language.asking import Asker
from otherminds.language.model import LanguageModel, Usage
from otherminds.language.prices import CallEstimate, CountingModel
from otherminds.papers.hypothetical_minds.agent import Hypothetical, Lesson
from otherminds.papers.hypothetical_minds.cook import HypotheticalCook
from otherminds.papers.hypothetical_minds.melting_pot import COOKS, NORMED, background
from otherminds.papers.hypothetical_minds.models import Speaker, cook, of_calls, spoken
from otherminds.papers.hypothetical_minds.plan import EXPERIMENT, Entry
from otherminds.papers.hypothetical_minds.seats import SEATS, best_against
from otherminds.papers.hypothetical_minds.verbal.agents import SpeakingCook
from otherminds.papers.hypothetical_minds.verbal.scripted_models import straight
from otherminds.reports.matrix_replay import frame
from otherminds.worlds.collaborative_cooking.bots import semi_skilled
from otherminds.worlds.collaborative_cooking.map_files import cooking_asymmetric
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.scenarios import Scenario, bot, draw, scenario
from otherminds.worlds.in_the_matrix.strategies import play_of
from otherminds.worlds.in_the_matrix.world import InTheMatrix

SHOWN, LONGEST = 4, 200

Row = dict[str, Any]


def rows(entry: Entry, model: LanguageModel | None = None) -> list[Row]:
    """Play an episode: a row for every meeting, and a last one with the score."""
    rng, chosen = stream(entry.seed, *entry.key), scenario(entry.scenario)
    if entry.cooks:
        return [_about(entry) | row for row in _cooked(entry, chosen, rng, model)]
    world = in_the_matrix(chosen.substrate)
    me, *others = world.agents
    names = draw(chosen, len(others), rng)
    minds: dict[str, Any] = {a: background(world, a, bot(n), rng) for a, n in zip(others, names, strict=True)}
    minds[me] = _seated(entry, world, names, rng, model)
    played = _play(world, minds, rng, filmed=entry.filmed)
    lessons = played.mind.lessons if isinstance(played.mind, Hypothetical) else ()
    best = [best_against(world, name) for name in names]
    found = [
        _about(entry) | _meeting(met, lesson, best, world.rules.reward(met.own, met.theirs)[0])
        for met, lesson in zip_longest(played.meetings, lessons[: len(played.meetings)])
    ]
    last = {"steps": played.steps, "reward": played.reward, "meetings": len(found), "bots": list(names)}
    extra = (of_calls(played.mind) if model else {}) | ({"film": played.film} if played.film else {})
    return [*found, _about(entry) | last | {"score": played.reward * NORMED / played.steps} | extra]


def _seated(
    entry: Entry, world: InTheMatrix, names: Sequence[str], rng: np.random.Generator, model: LanguageModel | None
) -> Any:
    me = world.agents[0]
    if model is None:
        return SEATS[entry.agent](world, me, names, rng)
    return spoken(Speaker.parse(entry.agent), world, me, _asker(entry, model), rng)


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
        expected = [lesson.expected.prob(kind) for kind in range(len(met.own))]
        found |= {"expected": expected, "inferred": lesson.theirs}
        found["hypotheses"] = _held(lesson.theory.ranked)
        if play is not None and lesson.partner is not None:
            found["correct"] = lesson.expected.mode == play
    return found


def _cooked(entry: Entry, chosen: Scenario, rng: np.random.Generator, model: LanguageModel | None) -> list[Row]:
    """A row for every time that a language model thought of the partner, and a last one with the score."""
    world, names = cooking_asymmetric(), draw(chosen, 1, rng)
    me, other = world.agents
    minds: dict[str, Any] = {me: _cook(entry, world, model), other: COOKS[bot(names[0]).rule](world)}
    reward, mind = 0.0, minds[me]
    for state, mind in _run(world, minds, rng):  # noqa: B007
        reward += state.rewards[0]
    records = mind.theory.records if isinstance(mind, SpeakingCook) else ()
    thoughts = [
        {"t": one.occasion.situation.t, "why": one.occasion.why, "hypotheses": _held(one.ranked)} for one in records
    ]
    last = {"steps": world.steps, "reward": reward, "meetings": round(reward / world.pay), "bots": list(names)}
    return [*thoughts, last | {"score": reward} | (of_calls(mind) if model else {})]


def _cook(entry: Entry, world: CollaborativeCooking, model: LanguageModel | None) -> Any:
    if model is not None:
        return cook(Speaker.parse(entry.agent), world, world.agents[0], _asker(entry, model))
    return HypotheticalCook.initial(world) if entry.agent == "programs" else semi_skilled(world, slip=1.0)


def _asker(entry: Entry, model: LanguageModel) -> Asker:
    return Asker(model, " ".join(entry.key), entry.seed)


def _held(hypotheses: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    return [(text[:LONGEST], round(value, 4)) for text, value in hypotheses[:SHOWN]]


class Met(NamedTuple):
    """A meeting as it was: when, with whom, and what both held."""

    t: int
    partner: int
    own: tuple[int, ...]
    theirs: tuple[int, ...]


class Played(NamedTuple):
    """An episode of the first player: its meetings, what it was paid, how long it took, and its mind at the end.

    `film` is every state as the viewer needs it, if that was wished.
    """

    meetings: list[Met]
    reward: float
    steps: int
    mind: Any
    film: Mapping[str, Any] = MappingProxyType({})


def _play(world: InTheMatrix, minds: dict[str, Any], rng: np.random.Generator, *, filmed: bool = False) -> Played:
    """Play until the end."""
    met, reward, t, mind, film = list[Met](), 0.0, 0, minds[world.agents[0]], Row()
    for state, mind in _run(world, minds, rng):  # noqa: B007
        reward, t = reward + state.rewards[0], state.t
        if filmed:
            film.setdefault("kinds", state.kinds)
            film.setdefault("frames", []).append(frame(state))
        if state.met[0] is not None:
            partner = next(j for j, meeting in enumerate(state.met) if j and meeting == state.met[0][::-1])
            met.append(Met(t, partner, *state.met[0]))
    return Played(met, reward, t, mind, film)


def _run(world: Any, minds: dict[str, Any], rng: np.random.Generator) -> Iterator[tuple[Any, Any]]:
    """Every state of an episode, with the mind of the first agent in it."""
    state = world.start(rng)
    minds = {agent: mind.observe(world.observe(state, agent)) for agent, mind in minds.items()}
    yield state, minds[world.agents[0]]
    while not world.done(state):
        state = world.step(state, {agent: mind.act().sample(rng) for agent, mind in minds.items()}, rng)
        minds = {agent: mind.observe(world.observe(state, agent)) for agent, mind in minds.items()}
        yield state, minds[world.agents[0]]


def estimate(entries: Sequence[Entry]) -> CallEstimate:
    """What a plan will take, found by playing an episode of every agent in every world with a program."""
    alike = Counter((scenario(entry.scenario).substrate, entry.agent) for entry in entries)
    first = {(scenario(entry.scenario).substrate, entry.agent): entry for entry in reversed(entries)}
    total = CallEstimate(0, Usage())
    for about, entry in shown(first.items(), len(first), "Estimating"):
        played = CountingModel(straight)
        rows(replace(entry, filmed=False), played)
        usage = Usage(*(tokens * alike[about] for tokens in played.usage))
        total = CallEstimate(total.calls + played.calls * alike[about], total.usage + usage)
    return total
