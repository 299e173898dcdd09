"""A viewer of walks: desires and beliefs as bars that move along the path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from otherminds.papers.food_trucks.clone import Judgement
from otherminds.reports.page import Html, number, safe
from otherminds.reports.replay import Caption, ReplayEpisode, ReplayLevel, TimelineMark, viewer
from otherminds.worlds.food_trucks.drawing import draw, looks, moving_parts
from otherminds.worlds.food_trucks.inference import LEVELS
from otherminds.worlds.food_trucks.level_files import FoodTruckLevel
from otherminds.worlds.food_trucks.rules import EAT, NOTHING, FoodTruckState
from otherminds.worlds.sprites import PEOPLE, labels

LEGEND = "A mark: the agent can see the other spot for the first time."


def walks_replay(
    levels: Sequence[FoodTruckLevel],
    inferred: Sequence[Sequence[Judgement]],
    people: Mapping[str, Judgement] | None = None,
) -> Html:
    """An element to step through walks.

    inferred: what is inferred of each walk before its first action and after each one. people: the mean judgements of
    people, by the name of the level. Raises ValueError if the numbers of walks or of steps differ.
    """
    replay_levels = []
    episodes = []
    for level, judgements in zip(levels, inferred, strict=True):
        world = level.world
        initials = labels(world.agents).items()
        start = FoodTruckState(world.beginning, level.parked, False)
        persons = [(name, label, PEOPLE[i % len(PEOPLE)]) for i, (name, label) in enumerate(initials)]
        parts = {part.name: part for part in moving_parts(world, start)}
        replay_levels.append(ReplayLevel(level.name, draw(world, start).svg(), parts, persons))
        episodes.append([_episode(level, judgements, (people or {}).get(level.name))])
    options = "".join(f'<option value="{i}">{safe(level.name)}</option>' for i, level in enumerate(levels))
    choices = Html(f'<label>Walk <select data-at="level">{options}</select></label>\n')
    return viewer(replay_levels, episodes, choices=choices, mark="glance", legend=LEGEND, speed="2")


def _episode(level: FoodTruckLevel, judgements: Sequence[Judgement], people: Judgement | None) -> ReplayEpisode:
    """A walk as an episode of the viewer; what people judged is shown at its end."""
    world = level.world
    states = [FoodTruckState(cell, level.parked, False) for cell in level.cells]
    first_sight = next((t for t, cell in enumerate(level.cells) if world.visibility[cell] > 0.0), None)
    captions = [_captions(level, t, judgement) for t, judgement in enumerate(judgements)]
    if people is not None:
        captions[-1] += [Caption("heading", "What people judged at the end"), *_bars(level, people, " of people")]
    return ReplayEpisode(
        parts=[{part.name: part for part in moving_parts(world, state)} for state in states],
        captions=captions,
        marks=[] if first_sight is None else [TimelineMark(first_sight, "can see the other spot", height=1.0)],
        outcome=f"At the other spot: {level.parked}.",
    )


def _captions(level: FoodTruckLevel, t: int, judgement: Judgement) -> list[Caption]:
    """The captions after t actions: what the agent sees or eats, and what is inferred of it so far."""
    world, cell = level.world, level.cells[t]
    share = world.visibility[cell]
    sees = {0.0: "It cannot see the other spot.", 1.0: "It can see the other spot."}
    words = sees.get(share, f"It sees the other spot with probability {number(share)}.")
    if t and level.actions[t - 1] == EAT:
        words = f"It eats at the truck: {world.truck(cell, level.parked)}."
    return [Caption("quiet", words), *_bars(level, judgement)]


def _bars(level: FoodTruckLevel, judgement: Judgement, source: str = "") -> list[Caption]:
    """Judgements as bars: desires from 1 to 7, beliefs from 0 to 1; `source` is added to their names."""
    world, sprites = level.world, looks(level.world)
    desires = zip(world.trucks, judgement.desire.tolist(), strict=True)
    beliefs = zip(world.contents, judgement.belief.tolist(), strict=True)
    return [
        Caption("heading", "How much it likes each truck, from 1 to 7"),
        Caption(
            "bars",
            f"expected desires{source}",
            [(truck, round(value, 3), sprites[truck]) for truck, value in desires],
            most=len(LEVELS),
        ),
        Caption("heading", "What it expected at the other spot when it set out"),
        Caption(
            "bars",
            f"expected beliefs{source}",
            [("no truck" if what == NOTHING else what, round(value, 3), sprites[what]) for what, value in beliefs],
        ),
    ]
