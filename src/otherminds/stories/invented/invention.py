"""Invented stories: minds run forward in a household, in groups that give the same question different answers.

The stories of a group share their question and options, word for word, and as much of their course as possible. They
differ in what is asked: where the item turned out to be, what was said, where it was brought. Each option is right
equally often, so neither the question nor its wording gives the answer away.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from otherminds.stories import model as stories
from otherminds.stories.invented import playing
from otherminds.stories.invented.playing import HouseholdScene, StoryCast, pick
from otherminds.stories.social_goals.inference import answer_social
from otherminds.worlds.household.rules import Act, Place
from otherminds.worlds.household.searcher import Errand, Searcher

MARGIN = 3.0  # least odds of the right option over the next one; less clear stories are redrawn; chosen, not tuned
P_CHORE = 0.25  # probability that the companion does an errand of its own after it was asked; chosen, not tuned

Kind = Literal["social_goal", "belief", "belief_of_goal"]
# a question, and one timeline for which each option is right, in order
Design = tuple[stories.Question, list[list[stories.Happening]]]


@dataclass(frozen=True)
class Story:
    """An episode with a question, the index of the right option, and the odds of it over the next option (`margin`).

    `cell` names the kind, polarity and condition.
    """

    id: str
    group: str
    cell: str
    kind: Kind
    episode: stories.Episode
    question: stories.Question
    gold: int
    margin: float


def invent(n: int, rng: np.random.Generator, first: int = 0) -> Iterator[Story]:
    """`n` stories, in groups of three (the last may be cut) that cycle through `CELLS`, numbered from `first`."""
    cells = tuple(CELLS)
    for k in range(-(-n // 3)):
        group: list[Story] = []
        while not group:
            with suppress(playing.RedrawError):
                group = _group(cells[k % len(cells)], f"{first + k:06d}", rng)
        yield from group[: n - 3 * k]


def _group(cell: str, name: str, rng: np.random.Generator) -> list[Story]:
    """Three stories, one for each right answer. Raises RedrawError if an answer is not clear enough."""
    cast = playing.draw_cast(rng)
    kind, polarity, condition = CELLS[cell]
    question, courses = DESIGNS[kind](cast, polarity, condition, rng)
    order = rng.permutation(3).tolist()
    options = tuple(question.options[i] for i in order)
    group = []
    for right, timeline in enumerate(courses):
        gold = order.index(right)
        story_question = replace(question, id=f"{name}-{right}", options=options)
        episode = playing.episode_of_cast(f"{name}-{right}", cast, timeline)
        margin = clearness(episode, story_question, gold)
        if margin < MARGIN:
            raise playing.RedrawError
        group.append(Story(episode.id, name, cell, kind, episode, story_question, gold, margin))
    return group


def clearness(episode: stories.Episode, question: stories.Question, gold: int) -> float:
    """The odds of the gold option over the next (for `least`: of the next over the gold); below 1 if gold is wrong."""
    posterior = list(answer_social(episode, question, explain=False).posterior)
    right = max(posterior.pop(gold), 1e-300)
    return min(posterior) / right if question.polarity == "least" else right / max(*posterior, 1e-300)


def _about_to_ask(cast: StoryCast, rng: np.random.Generator, aside: bool) -> tuple[HouseholdScene, Searcher, list[str]]:
    """A scene in which the seeker is about to ask, its mind, and the places it has not seen.

    With `aside` (the companion will look into one of them unseen), places in the seeker's room are left out.
    """
    scene = HouseholdScene(cast)
    mind = playing.searcher(cast, cast.seeker, Errand(cast.thing), company=True)
    mind = scene.run(mind, rng, "ask", done=False)
    unseen = [place for i, place in enumerate(cast.home.places) if mind.unseen >> i & 1]
    seeker_room = scene.state.person(cast.seeker).room
    return scene, mind, [place.name for place in unseen if not (aside and place.room == seeker_room)]


def _apart(cast: StoryCast, unseen: list[str], rng: np.random.Generator) -> tuple[str, ...]:
    """Three of the places such that a look into one does not show another. Raises RedrawError if there are none."""
    selected: list[Place] = []
    for place in (cast.home.place[name] for name in pick(unseen, len(unseen), rng)):
        if all(place.room != earlier.room or (place.closes and earlier.closes) for earlier in selected):
            selected.append(place)
    if len(selected) < 3:
        raise playing.RedrawError
    return tuple(place.name for place in selected[:3])


def _ask(scene: HouseholdScene, mind: Searcher) -> Searcher:
    scene.do(mind.name, Act("ask", scene.cast.thing))
    return scene.show(mind)


def _chore(scene: HouseholdScene, avoided_places: tuple[str, ...], rng: np.random.Generator) -> None:
    """With probability `P_CHORE`, let the companion do an errand of its own."""
    cast = scene.cast
    free_places = [place.name for place in cast.home.places if place.name not in avoided_places]
    if rng.random() < P_CHORE and len(free_places) > 1:
        lies, to = pick(free_places, 2, rng)
        scene.state = scene.state._replace(things=(*scene.state.things, (cast.second_thing, lies)))
        scene.run(playing.searcher(cast, cast.companion, Errand(cast.second_thing, to), item_place=lies), rng, "put")


def _social(cast: StoryCast, polarity: stories.Polarity, condition: str, rng: np.random.Generator) -> Design:
    """Did the companion help, hinder, or not care?

    The item is where the companion says, or elsewhere; in the third story the companion does not answer (MOST), or
    nobody finds out where the item is (LEAST).
    """
    before, asking, unseen = _about_to_ask(cast, rng, aside=condition == "seen")
    claimed = pick(unseen, 1, rng)[0]
    room = cast.home.place[claimed].room
    elsewhere = pick([place for place in unseen if cast.home.place[place].room != room], 1, rng)[0]
    is_seen, most, seed = condition == "seen", polarity == "most", int(rng.integers(2**63))
    stances: tuple[stories.Stance, ...] = ("help", "hinder", "independent")
    options = tuple(
        stories.AnswerOption((stories.SocialGoal(cast.companion, cast.seeker, stance),)) for stance in stances
    )
    assumptions = () if is_seen else (stories.Knows(cast.companion, claimed),)
    courses = []
    true, false = (claimed, elsewhere) if most else (elsewhere, claimed)
    for truth, says, happens in ((true, True, True), (false, True, True), (claimed, not most, most)):
        chore_rng, scene = np.random.default_rng(seed), before.with_thing(cast.thing, truth)
        if is_seen and happens:
            scene.look_into(truth, True)
        mind = _ask(scene, asking)
        if says:
            scene.do(cast.companion, Act("tell", cast.thing, claimed))
        else:
            scene.timeline.append(stories.Utterance(len(scene.timeline), cast.companion, "silence"))
        mind = scene.show(mind)
        _chore(scene, (claimed, elsewhere), chore_rng)
        if happens:
            scene.run(mind, chore_rng, "grab")
        courses.append(scene.timeline)
    return stories.Question("", options, polarity, assumptions, kind="social_goal"), courses


def _belief(cast: StoryCast, polarity: stories.Polarity, condition: str, rng: np.random.Generator) -> Design:
    """Where did the companion believe the item to be, given that it helped or hindered?

    It names another place in each story. If the answer is not the place it names, it has looked into a third place and
    found nothing.
    """
    looks = (condition, polarity) in (("hinder", "most"), ("help", "least"))
    before, asking, unseen = _about_to_ask(cast, rng, aside=looks)
    places = _apart(cast, unseen, rng)
    seed = int(rng.integers(2**63))
    options = tuple(
        stories.AnswerOption((stories.Belief(cast.companion, stories.Fact("at", cast.thing, place)),))
        for place in places
    )
    assumption: stories.Claim = stories.SocialGoal(
        cast.companion, cast.seeker, "help" if condition == "help" else "hinder"
    )
    courses = []
    for right in range(3):
        says, truth, empty = right, right, None
        if looks:
            says, third = (right + 1) % 3, (right + 2) % 3
            truth, empty = (right, third) if condition == "hinder" else (third, right)
        chore_rng, scene = np.random.default_rng(seed), before.with_thing(cast.thing, places[truth])
        if empty is not None:
            scene.look_into(places[empty], False)
        mind = _ask(scene, asking)
        scene.do(cast.companion, Act("tell", cast.thing, places[says]))
        mind = scene.show(mind)
        _chore(scene, places, chore_rng)
        scene.do(cast.seeker, scene.show(mind).act().sample(chore_rng))
        courses.append(scene.timeline)
    return stories.Question("", options, polarity, (assumption,), kind="belief"), courses


def _wants(cast: StoryCast, polarity: stories.Polarity, condition: str, rng: np.random.Generator) -> Design:
    """Where did the companion believe the seeker wants the item, and did it help?

    The seeker puts the item somewhere, and the companion brings it elsewhere.
    """
    companion, seeker, thing = cast.companion, cast.seeker, cast.thing
    a, b, c, fourth_place, start = pick([place.name for place in cast.home.places], 5, rng)

    def wants(place: str | None, stance: stories.Stance) -> stories.AnswerOption:
        content = None if place is None else stories.Fact("at", thing, place)
        return stories.AnswerOption(
            (stories.Belief(companion, stories.Goal(seeker, content)), stories.SocialGoal(companion, seeker, stance))
        )

    moves = ((fourth_place, a), (fourth_place, b), (fourth_place, c))
    if condition == "mixed":
        options = (wants(a, "help"), wants(a, "hinder"), wants(None, "independent"))
        moves = ((b, a), (a, b), (b, c))
    else:
        stance: stories.Stance = "help" if condition == "help" else "hinder"
        options = (wants(a, stance), wants(b, stance), wants(c, stance))
        if (condition, polarity) == ("hinder", "most"):
            moves = ((a, fourth_place), (b, fourth_place), (c, fourth_place))
    courses = []
    for from_, to in moves:
        scene = HouseholdScene(cast, ((thing, start),))
        scene.run(playing.searcher(cast, seeker, Errand(thing, from_), item_place=start), rng, "put")
        other_rooms = [room for room in cast.home.rooms if room != cast.home.place[from_].room]
        scene.do(seeker, Act("walk", None, *pick(other_rooms, 1, rng)))
        scene.run(playing.searcher(cast, companion, Errand(thing, to), item_place=from_), rng, "put")
        courses.append(scene.timeline)
    return stories.Question("", options, polarity, kind="belief_of_goal"), courses


DESIGNS = {"social_goal": _social, "belief": _belief, "belief_of_goal": _wants}
CELLS: dict[str, tuple[Kind, stories.Polarity, str]] = {"/".join(cell): tuple(cell) for cell in playing.DATA["cells"]}
