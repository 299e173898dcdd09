"""What a language model is told of a kitchen: the rules and the map, how things stand, and what others did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from otherminds.language.asking import listed, prompts_of
from otherminds.language.model import Message
from otherminds.papers.hypothetical_minds.verbal.cook_forms import MOST, NOBODY
from otherminds.papers.hypothetical_minds.verbal.cook_planner import PATIENCE
from otherminds.papers.hypothetical_minds.verbal.cook_sight import NEVER, Deed, Scene, things, tomatoes
from otherminds.worlds.collaborative_cooking.bots import nearest
from otherminds.worlds.collaborative_cooking.things import (
    COUNTER,
    DELIVERY,
    DISHES,
    FLOOR,
    FULL,
    POT,
    SEES_COUNTER,
    SEES_POT,
    SEES_SOUP,
    START,
    TOMATO,
    TOMATOES,
    VOID,
)

fill = prompts_of("otherminds.papers.hypothetical_minds")

LETTERS = {".": "floor", COUNTER: "counter", TOMATOES: "dispenser of tomatoes", DISHES: "dispenser of dishes"}
LEGEND = {**LETTERS, POT: "pot", DELIVERY: "delivery", VOID: "void"}
SIDES = ("north", "east", "south", "west")
LAST = 40


def kitchen_message(scene: Scene) -> Message:
    """The rules and the map, which are the same all the time."""
    world = scene.world
    rows = ["".join("." if square in (FLOOR, START) else square for square in row) for row in world.rows]
    legend = ", ".join(f"{letter} {name}" for letter, name in LEGEND.items() if any(letter in row for row in rows))
    told = fill(
        "hm-cook-world",
        agent=scene.players[scene.me],
        width=world.grid.width,
        height=world.grid.height,
        others=", ".join(scene.others) or "nobody",
        cook=world.cook + 1,
        pay=f"{world.pay:g}",
        steps=world.steps,
        legend=legend,
        map="\n".join(rows),
    )
    return Message("system", told)


def now_text(scene: Scene) -> str:
    """How things stand, as far as one knows."""
    sight = scene.sight
    return fill(
        "hm-cook-now",
        t=sight.t,
        steps=scene.world.steps,
        place=scene.at(sight.view.cell),
        facing=SIDES[sight.view.facing],
        hand=_hand(sight.view.hand),
        mine=sight.soups[0],
        theirs=sight.soups[1],
        pots="\n".join(f"- {pot_text(scene, pot)}" for pot in scene.world.pots),
        reach="\n".join(f"- {line}" for line in _reach(scene)),
        others="\n".join(f"- {line}" for line in _others(scene)) or "- nobody",
    )


def pot_text(scene: Scene, pot: int) -> str:
    """What is in a pot, how far it is, and when that was seen."""
    sight, code = scene.sight, scene.code(pot)
    when = _when(scene, pot)
    if code == SEES_SOUP:
        return f"pot at {scene.at(pot)}: soup is ready ({when})"
    if code < SEES_POT + FULL:
        return f"pot at {scene.at(pot)}: {things(tomatoes(code), TOMATO) if code > SEES_POT else 'empty'} ({when})"
    ready = sight.full[scene.world.pots.index(pot)] + scene.world.cook + 1
    then = f"soup from step {ready} on" if ready > sight.t else "by now there should be soup, unless it was taken"
    return f"pot at {scene.at(pot)}: {FULL} tomatoes, cooking; {then} ({when})"


def whereabouts(scene: Scene) -> str:
    """Where one is, what one holds, and what is in the pots."""
    view = scene.sight.view
    pots = "; ".join(pot_text(scene, pot) for pot in scene.world.pots)
    return f"at {scene.at(view.cell)}, holding {_hand(view.hand)}; {pots}."


def deeds_text(scene: Scene, since: int, shown: int) -> str:
    """What others did after some step, by which they had been in view in so many."""
    sight = scene.sight
    lines = [_deed(deed) for deed in sight.deeds if deed.t > since]
    if len(lines) > LAST:
        lines = [f"- (the last {LAST} of {len(lines)} deeds)", *lines[-LAST:]]
    return fill(
        "hm-cook-deeds",
        partner=scene.partner,
        since=max(since, 0),
        t=sight.t,
        shown=sight.shown - shown,
        steps=sight.t - since,
        deeds="\n".join(lines) or "- nothing that you noticed",
    )


def cook_subgoals_prompt(scene: Scene, purpose: str, outcomes: Sequence[str]) -> tuple[Message, ...]:
    """The question for the next few subgoals."""
    came = f"\n{fill('hm-outcomes', outcomes=listed(outcomes))}\n" if outcomes else ""
    told = fill(
        "hm-cook-subgoals", now=now_text(scene), outcomes=came, purpose=purpose.strip(), wait=PATIENCE, most=MOST
    )
    return kitchen_message(scene), Message("user", told)


def notes_text(notes: Sequence[str]) -> str:
    """What one has noted, if anything."""
    return fill("hm-notes", notes=listed(notes)) if notes else ""


def _deed(deed: Deed) -> str:
    return f"- step {deed.t}: {deed.who} {deed.what}"


def _hand(thing: int) -> str:
    return things(1, thing) if thing else "nothing"


def _when(scene: Scene, cell: int) -> str:
    looked = scene.looked(cell)
    if looked == NEVER:
        return "never seen yet"
    return "in view" if looked == scene.sight.t else f"seen at step {looked}"


def _reach(scene: Scene) -> Iterator[str]:
    """Whatever can be used from where one is, the nearest first, with how far it is."""
    world = scene.world
    free = [cell for cell in world.counters if scene.code(cell) == SEES_COUNTER]
    yield f"tomatoes: {_nearest_first(scene, world.cells(TOMATOES))}"
    yield f"dishes: {_nearest_first(scene, world.cells(DISHES))}"
    yield f"pots: {_nearest_first(scene, world.pots)}"
    yield f"deliveries: {_nearest_first(scene, world.cells(DELIVERY))}"
    yield f"empty counters: {_nearest_first(scene, free)}"
    for cell in world.counters:
        if scene.code(cell) > SEES_COUNTER and nearest(world, scene.sight.view, [cell], NOBODY):
            thing = things(1, scene.code(cell) - SEES_COUNTER)
            yield f"{thing} on the counter: {_nearest_first(scene, [cell])}, {_when(scene, cell)}"


def _nearest_first(scene: Scene, cells: Sequence[int]) -> str:
    ways = {cell: nearest(scene.world, scene.sight.view, [cell], NOBODY) for cell in cells}
    steps = {cell: way.steps for cell, way in ways.items() if way is not None}
    near = sorted(steps, key=lambda cell: (steps[cell], cell))
    return "; ".join(f"{scene.at(cell)} in {_steps(steps[cell])}" for cell in near) or "none"


def _steps(number: int) -> str:
    return "1 step" if number == 1 else f"{number} steps"


def _others(scene: Scene) -> Iterator[str]:
    for number, name in enumerate(scene.players):
        other = scene.sight.others[number]
        if number == scene.me:
            continue
        if other is None:
            yield f"{name}: not seen yet"
        else:
            when = "in view" if other.t == scene.sight.t else f"seen at step {other.t}"
            facing, hand = SIDES[other.facing], _hand(other.hand)
            yield f"{name} at {scene.at(other.cell)}, facing {facing}, holding {hand} ({when})"
