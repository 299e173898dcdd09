"""What a language model is told about a kitchen: rules, map, the present situation, and what others did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from otherminds.language.model import Message
from otherminds.papers.hypothetical_minds.verbal.cook_memory import (
    NEVER,
    KitchenMemory,
    KitchenSituation,
    in_hand,
    things,
    tomatoes,
)
from otherminds.papers.hypothetical_minds.verbal.cook_subgoals import MOST, PATIENCE
from otherminds.papers.hypothetical_minds.verbal.forms import fill
from otherminds.worlds.collaborative_cooking import rules

LEGEND = {
    ".": "floor",
    rules.COUNTER: "counter",
    rules.TOMATOES: "dispenser of tomatoes",
    rules.DISHES: "dispenser of dishes",
    rules.POT: "pot",
    rules.DELIVERY: "delivery",
    rules.VOID: "void",
}
SIDES = ("north", "east", "south", "west")
LAST = 40  # actions of others that are told at most; chosen, not tuned


def kitchen_message(situation: KitchenSituation) -> Message:
    """The rules and the map, the same for the whole episode."""
    world = situation.world
    rows = ["".join("." if square in (rules.FLOOR, rules.START) else square for square in row) for row in world.rows]
    legend = ", ".join(f"{letter} {name}" for letter, name in LEGEND.items() if any(letter in row for row in rows))
    text = fill(
        "hm-cook-world",
        agent=situation.names[situation.me],
        width=world.grid.width,
        height=world.grid.height,
        others=", ".join(situation.other_names) or "nobody",
        cook=world.cook + 1,
        pay=f"{world.pay:g}",
        steps=world.steps,
        legend=legend,
        map="\n".join(rows),
    )
    return Message("system", text)


def now_text(situation: KitchenSituation) -> str:
    """The present situation, as far as the cook knows it."""
    memory = situation.memory
    return fill(
        "hm-cook-now",
        t=memory.t,
        steps=situation.world.steps,
        place=situation.at(memory.view.cell),
        facing=SIDES[memory.view.facing],
        hand=in_hand(memory.view.hand),
        mine=memory.soups[0],
        theirs=memory.soups[1],
        pots="\n".join(f"- {pot_text(situation, pot)}" for pot in situation.world.pots),
        reach="\n".join(f"- {line}" for line in _within_reach(situation)),
        others="\n".join(f"- {line}" for line in _other_cooks(situation)) or "- nobody",
    )


def pot_text(situation: KitchenSituation, pot: int) -> str:
    """What is in a pot, how far it is cooked, and when that was seen."""
    memory, code = situation.memory, situation.code(pot)
    where, when = f"pot at {situation.at(pot)}", _when_seen(situation, situation.last_look(pot))
    if code == rules.SEES_SOUP:
        return f"{where}: soup is ready ({when})"
    if code < rules.SEES_POT + rules.FULL:
        return f"{where}: {things(tomatoes(code), rules.TOMATO) if code > rules.SEES_POT else 'empty'} ({when})"
    ready = memory.full_since[situation.world.pots.index(pot)] + situation.world.cook + 1
    forecast = f"soup from step {ready} on" if ready > memory.t else "by now there should be soup, unless it was taken"
    return f"{where}: {rules.FULL} tomatoes, cooking; {forecast} ({when})"


def whereabouts(situation: KitchenSituation) -> str:
    """Where the cook is, what it holds, and what is in the pots."""
    view = situation.memory.view
    pots = "; ".join(pot_text(situation, pot) for pot in situation.world.pots)
    return f"at {situation.at(view.cell)}, holding {in_hand(view.hand)}; {pots}."


def actions_text(situation: KitchenSituation, before: KitchenMemory | None = None) -> str:
    """What others did since the agent knew no more than `before`; since the start if that is None."""
    memory = situation.memory
    since, steps_in_view = (NEVER, 0) if before is None else (before.t, before.steps_in_view)
    lines = [f"- step {action.t}: {action.agent} {action.words}" for action in memory.actions if action.t > since]
    if len(lines) > LAST:
        lines = [f"- (the last {LAST} of {len(lines)} deeds)", *lines[-LAST:]]
    return fill(
        "hm-cook-deeds",
        partner=situation.partner,
        since=max(since, 0),
        t=memory.t,
        shown=memory.steps_in_view - steps_in_view,
        steps=memory.t - since,
        deeds="\n".join(lines) or "- nothing that you noticed",
    )


def cook_subgoals_text(situation: KitchenSituation, purpose: str, outcomes: str) -> str:
    """The question for the next few subgoals, after the outcomes of the last ones."""
    now = now_text(situation)
    return fill("hm-cook-subgoals", now=now, outcomes=outcomes, purpose=purpose.strip(), wait=PATIENCE, most=MOST)


def _when_seen(situation: KitchenSituation, last_look: int) -> str:
    if last_look == NEVER:
        return "never seen yet"
    return "in view" if last_look == situation.memory.t else f"seen at step {last_look}"


def _within_reach(situation: KitchenSituation) -> Iterator[str]:
    """The things within reach, the nearest first, with their distances."""
    world = situation.world
    places = {
        "tomatoes": world.cells(rules.TOMATOES),
        "dishes": world.cells(rules.DISHES),
        "pots": world.pots,
        "deliveries": world.cells(rules.DELIVERY),
        "empty counters": [cell for cell in world.counters if situation.code(cell) == rules.SEES_COUNTER],
    }
    yield from (f"{name}: {_nearest_first(situation, cells)}" for name, cells in places.items())
    for cell in world.counters:
        if situation.code(cell) > rules.SEES_COUNTER and situation.way_to(cell):
            thing = things(1, situation.code(cell) - rules.SEES_COUNTER)
            when = _when_seen(situation, situation.last_look(cell))
            yield f"{thing} on the counter: {_nearest_first(situation, [cell])}, {when}"


def _nearest_first(situation: KitchenSituation, cells: Sequence[int]) -> str:
    steps = {cell: way.steps for cell in cells if (way := situation.way_to(cell))}
    near = sorted(steps, key=lambda cell: (steps[cell], cell))
    far = {cell: "1 step" if number == 1 else f"{number} steps" for cell, number in steps.items()}
    return "; ".join(f"{situation.at(cell)} in {far[cell]}" for cell in near) or "none"


def _other_cooks(situation: KitchenSituation) -> Iterator[str]:
    """A line for each other cook: where it was seen last, and what it held."""
    for number, (name, cook) in enumerate(zip(situation.names, situation.memory.cooks, strict=True)):
        if cook is not None:
            where = f"{name} at {situation.at(cook.cell)}, facing {SIDES[cook.facing]}"
            yield f"{where}, holding {in_hand(cook.hand)} ({_when_seen(situation, cook.t)})"
        elif number != situation.me:
            yield f"{name}: not seen yet"
