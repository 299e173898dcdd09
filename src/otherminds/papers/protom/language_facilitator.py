"""A language model as the facilitator: it gets ProToM's information and chooses among the same messages (§4.2, B.4).

After every step at which a message can be sent, the model is asked once which goal each agent has and which message to
send, if any. If no attempt of the `Asker` gives a readable reply, no message is sent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from io import BytesIO
from typing import Generic, NamedTuple, Self

import numpy as np

from otherminds.distribution import IMPOSSIBLE, Categorical
from otherminds.files.text import one_line
from otherminds.language import asking
from otherminds.language.asking import Asker, Exchange, ReplyForm
from otherminds.language.model import Message
from otherminds.papers.protom.episodes import A, Decision, F, Messages, S, SilentFacilitator, Status
from otherminds.worlds.canvas import Drawing
from otherminds.worlds.doors_keys_gems import drawing as map_drawing
from otherminds.worlds.doors_keys_gems import level_files
from otherminds.worlds.doors_keys_gems.planner import Goal
from otherminds.worlds.doors_keys_gems.rules import GROUND, USED, Action, DoorsKeysGems
from otherminds.worlds.doors_keys_gems.rules import State as MapState
from otherminds.worlds.grid import Grid
from otherminds.worlds.overcooked import drawing as kitchen_drawing
from otherminds.worlds.overcooked import level_files as kitchen_files
from otherminds.worlds.overcooked.kitchen import DOOR, RECIPES, parts
from otherminds.worlds.overcooked.rules import Overcooked
from otherminds.worlds.overcooked.rules import State as KitchenState

fill = asking.prompts_of("otherminds.papers.protom")


RECENT = 10  # joint actions that the prompt lists; chosen, not tuned
NOTHING_SAID = "No Feedback"  # option 0 of every prompt, as in the paper's prompt (appendix B.4)
STATUS_WORDS: Mapping[Status, str] = {
    "running": "under way",
    "completed": "done",
    "impossible": "could no longer be done",
    "ignored": "ignored",
}


def subject(model: str) -> str:
    """The name of a model in the column `subject`."""
    return f"lm:{model.replace(':', '-')}"


# Replies


class FacilitatorAnswer(asking.StrictReply):
    """The reply asked for: the goal of each agent, a reason, and the number of a message (0: none)."""

    goals: dict[str, str]
    reason: str
    choice: int


def answer_form(agents: Sequence[str], goals: Collection[str], candidates: int) -> ReplyForm[FacilitatorAnswer]:
    """The form of answers: goals before reason before choice, a known goal for each agent, a number on the list."""

    def fault(answer: FacilitatorAnswer) -> str | None:
        """What is wrong with an answer, in words that follow `it`; None if nothing is."""
        if answer.goals.keys() != set(agents):
            return "does not name the goals of all agents and of nobody else"
        if not set(answer.goals.values()) <= set(goals):
            return "names a goal that nobody can have"
        return None if 0 <= answer.choice <= candidates else "chooses a number that is not on the list"

    wants = asking.object_schema(**dict.fromkeys(agents, asking.enum_schema([*goals])))
    choice = asking.enum_schema(range(candidates + 1))
    schema = asking.schema_text(goals=wants, reason={"type": "string"}, choice=choice)
    return ReplyForm(schema, FacilitatorAnswer, fault)


# The facilitator


@dataclass(frozen=True)
class ModelDecision(Decision[F]):
    """A decision with the goals that the model named, by agent, and all of the model's replies."""

    goals: Mapping[str, str] = field(default_factory=dict)
    said: tuple[Exchange, ...] = ()


class SentMessage(NamedTuple, Generic[F]):
    """A message, the step after which it was sent, and its latest status."""

    t: int
    message: F
    status: Status = "running"


@dataclass(frozen=True)
class LanguageFacilitator(SilentFacilitator, Generic[S, A, F]):
    """The facilitator at one moment of an episode; it asks its model at most once about each moment.

    With `pictures`, the model also sees the state as a picture. `named` holds the goals that it named last, `recent`
    the joint actions that the prompt lists.
    """

    asker: Asker
    briefing: Briefing[S, A]
    messages: Messages[S, A, F]
    pictures: bool = False
    t: int = 0
    recent: tuple[Mapping[str, A], ...] = ()
    past: tuple[SentMessage[F], ...] = ()
    named: Mapping[str, str] = field(default_factory=dict)
    _decided: dict[tuple[S, int], ModelDecision[F]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def watch(self, joint: Mapping[str, A], after: S) -> Self:
        """Remember the joint action, and update the status of the last message."""
        recent = (*self.recent, joint)[-RECENT:]
        past = self.past
        if past and past[-1].status == "running":
            past = (*past[:-1], past[-1]._replace(status=self.messages.status(after, past[-1].message)))
        return replace(self, t=self.t + 1, recent=recent, past=past, named=self._last_named())

    def tell(self, message: F, state: S) -> Self:
        """Remember that the message was sent."""
        return replace(self, past=(*self.past, SentMessage(self.t, message)), named=self._last_named())

    def dismiss(self, message: F) -> Self:
        """Remember that its last message was ignored."""
        ignored = self.past[-1]._replace(status="ignored")
        return replace(self, past=(*self.past[:-1], ignored), named=self._last_named())

    def decide(self, state: S, left: int, rng: np.random.Generator) -> ModelDecision[F]:
        """The message that the model chooses; silence if there is none to choose or no reply can be read."""
        if (state, left) not in self._decided:
            self._decided[state, left] = self._asked_decision(state, left)
        return self._decided[state, left]

    def beliefs(self) -> dict[str, Categorical[Hashable]]:
        """The goals that the model named last, each with probability 1; empty before it has named any."""
        return {
            agent: Categorical.from_scores(
                (goal, 0.0 if name == named_goal else IMPOSSIBLE) for name, goal in self.briefing.goals.items()
            )
            for agent, named_goal in self._last_named().items()
        }

    def _last_named(self) -> Mapping[str, str]:
        """The goals that the model named last, by agent: now, or before this moment of the episode."""
        past_goals = [decision.goals for decision in self._decided.values() if decision.goals]
        return past_goals[-1] if past_goals else self.named

    def _asked_decision(self, state: S, left: int) -> ModelDecision[F]:
        """Ask the model for the goals and a message, unless there is no message to choose."""
        candidates = self.messages.candidates(state)
        if not candidates:
            return ModelDecision(silence="nobody could do anything for anybody")
        form = answer_form(self.briefing.agents, self.briefing.goals, len(candidates))
        answer, exchanges = self.asker.ask(f"step {self.t}", self._prompt(state, left, candidates), form)
        if answer is None:
            return ModelDecision(silence="no reply of the model could be read", said=exchanges)
        exchanges = (*exchanges[:-1], exchanges[-1]._replace(reading=str(answer.choice)))
        reason = one_line(answer.reason)
        if answer.choice:
            message, words = candidates[answer.choice - 1], reason or "No reason given."
            return ModelDecision(message, words, goals=answer.goals, said=exchanges)
        because = f": {reason.rstrip('.')}" if reason else ""
        return ModelDecision(silence=f"it chose to say nothing{because}", goals=answer.goals, said=exchanges)

    def _prompt(self, state: S, left: int, candidates: Sequence[F]) -> tuple[Message, ...]:
        """The system message with world and task, and the user message with the state, the past and the options."""
        briefing = self.briefing
        form = ", ".join(f"{json.dumps(agent, ensure_ascii=False)}: ..." for agent in briefing.agents)
        task = fill("facilitator-task", rules=briefing.rules, goals=", ".join(briefing.goals), form=form)
        history = [
            f"Step {t}: {'; '.join(f'{agent} {briefing.spell(joint[agent])}' for agent in briefing.agents)}"
            for t, joint in enumerate(self.recent, self.t - len(self.recent) + 1)
        ]
        past = [f"After step {t}: {self.messages.address(f)} ({STATUS_WORDS[status]})" for t, f, status in self.past]
        options = [NOTHING_SAID, *map(self.messages.address, candidates)]
        situation = fill(
            "facilitator-now",
            t=self.t,
            left=left,
            state=briefing.describe(state),
            history="\n".join(history) or "nothing yet",
            past="\n".join(past) or "nothing",
            options="\n".join(f"{i}: {option}" for i, option in enumerate(options)),
        )
        if not self.pictures:
            return Message("system", task), Message("user", situation)
        with_picture = f"{situation}\n\n{fill('facilitator-picture')}"
        file = BytesIO()
        briefing.draw(state).png(file)
        return Message("system", task), Message("user", with_picture, (file.getvalue(),))


# Worlds in words


@dataclass(frozen=True)
class Briefing(Generic[S, A]):
    """A world as described to a language model, which sees everything but the agents' goals.

    rules: how the world works. goals: every possible goal, by name. text: a state as a map. lines: one for everything
    that can change. draw: a state as a picture. spell: an action in words.
    """

    agents: tuple[str, ...]
    rules: str
    goals: Mapping[str, Hashable]
    text: Callable[[S], str]
    lines: Callable[[S], Iterable[str]]
    draw: Callable[[S], Drawing]
    spell: Callable[[A], str]

    def describe(self, state: S) -> str:
        """A state in words: its map, and a line for everything that can change."""
        tiles = [row.split() for row in self.text(state).split("\n")]
        return fill("facilitator-state", map=_numbered(tiles), lines="\n".join(self.lines(state)))


def map_briefing(world: DoorsKeysGems) -> Briefing[MapState, Action]:
    """The briefing on a Doors-Keys-Gems map. A gem is named by its colour, and its name if the colour is not unique."""
    colours = [gem.colour for gem in world.gems]
    names = [f"{g.colour} gem" + ("" if colours.count(g.colour) == 1 else f" ({g.name})") for g in world.gems]
    bans = (f"\n{world.agents[i]} can neither take nor be given {world.items[k].name}." for i, k in world.forbidden)
    turns = "In every step each agent does one thing, all at the same time."
    if world.turns == "alternating":
        turns = f"In every step one agent does one thing, in the order {', '.join(world.agents)}; the others stay."
    return Briefing(
        agents=world.agents,
        rules=fill("facilitator-map", agents=", ".join(world.agents), turns=turns, bans="".join(sorted(bans))),
        goals={name: Goal("gem", k) for k, name in enumerate(names)},
        text=partial(level_files.draw_text, world),
        lines=partial(_map_lines, world),
        draw=partial(map_drawing.draw, world),
        spell=world.spell,
    )


def _map_lines(world: DoorsKeysGems, state: MapState) -> Iterator[str]:
    """A line for everything that can change."""
    for i, (agent, cell) in enumerate(zip(world.agents, state.cells, strict=True)):
        inventory = [item.name for item, holder in zip(world.items, state.items, strict=True) if holder == i]
        yield f"{agent} (a{i + 1}) is at {_position(world.grid, cell)} and holds {', '.join(inventory) or 'nothing'}."
    for item, holder in zip(world.items, state.items, strict=True):
        if holder == GROUND:
            where = f"lies at {_position(world.grid, item.cell)}"
        else:
            where = "is used up" if holder == USED else f"is held by {world.agents[holder]}"
        yield f"{item.name} ({item.colour}) {where}."
    for d, door in enumerate(world.doors):
        locked = "locked" if state.locked >> d & 1 else "open"
        yield f"{door.name} ({door.colour}) is at {_position(world.grid, door.cell)} and {locked}."
    if world.turns == "alternating":
        yield f"It is the turn of {world.agents[state.turn]}."


def kitchen_briefing(world: Overcooked) -> Briefing[KitchenState, str]:
    """The briefing on a kitchen. Every recipe is a possible goal: only the agents know which ones are ordered."""
    layout = world.layout
    dishes = "\n".join(f"- {recipe}: {_item(dish)}" for recipe, dish in RECIPES.items())
    names = ", ".join(world.agents)
    numbers = ", ".join(f"{i} is {agent}" for i, agent in enumerate(world.agents, 1))
    room_of = {cell: str(n) for n, room in enumerate(layout.rooms, 1) for cell in room}
    rooms = [
        [room_of.get(layout.grid.cell(x, y), tile) for x, tile in enumerate(row)] for y, row in enumerate(layout.rows)
    ]
    return Briefing(
        agents=world.agents,
        rules=fill("facilitator-kitchen", agents=names, dishes=dishes, rooms=_numbered(rooms), numbers=numbers),
        goals={recipe: recipe for recipe in RECIPES},
        text=partial(kitchen_files.draw_text, world),
        lines=partial(_kitchen_lines, world),
        draw=partial(kitchen_drawing.draw, world),
        spell=world.spell,
    )


def _kitchen_lines(world: Overcooked, state: KitchenState) -> Iterator[str]:
    """A line for everything that can change."""
    layout = world.layout
    for i, (agent, cell, hand) in enumerate(zip(world.agents, state.cells, state.hands, strict=True), 1):
        near = [f"room {n + 1}" for n in range(len(layout.rooms)) if layout.sight[cell] >> n & 1]
        place = ("on a door, in " if cell in layout.cells(DOOR) else "in ") + (" and ".join(near) or "no room")
        yield f"{agent} ({i}) is at {_position(layout.grid, cell)}, {place}, and holds {_item(hand)}."
    for k, (cell, thing) in enumerate(zip(layout.counters, state.on, strict=True)):
        if thing:
            where = "cutting board" if k in layout.boards else "counter"
            yield f"On the {where} at {_position(layout.grid, cell)}: {_item(thing)}."
    for cell, delivered in zip(layout.deliveries, state.delivered, strict=True):
        yield f"Delivered at {_position(layout.grid, cell)}: {'; '.join(map(_item, delivered)) or 'nothing yet'}."


def _item(thing: int) -> str:
    """A thing by its parts, as in messages."""
    return "+".join(parts(thing)) or "nothing"


def _position(grid: Grid, cell: int) -> str:
    """The column and row of a cell, from 0, as `(3, 1)`."""
    return "({}, {})".format(*grid.xy(cell))


def _numbered(tiles: Sequence[Sequence[str]]) -> str:
    """A map with the numbers of its columns and rows."""
    lines = [["", *map(str, range(len(tiles[0])))], *([str(y), *row] for y, row in enumerate(tiles))]
    width = max(len(tile) for line in lines for tile in line)
    return "\n".join(" ".join([line[0].rjust(2), *(tile.ljust(width) for tile in line[1:])]).rstrip() for line in lines)
