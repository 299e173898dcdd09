"""What the episode viewer needs to know of a world: its rules, its picture, its goals, and who sees what of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from otherminds.files.text import printable
from otherminds.worlds import canvas
from otherminds.worlds.doors_keys_gems import drawing as map_drawing
from otherminds.worlds.doors_keys_gems.drawing import colour_labels
from otherminds.worlds.doors_keys_gems.level_files import Level
from otherminds.worlds.doors_keys_gems.rules import Action, DoorsKeysGems
from otherminds.worlds.doors_keys_gems.rules import State as Map
from otherminds.worlds.overcooked import drawing as kitchen_drawing
from otherminds.worlds.overcooked.drawing import Fog
from otherminds.worlds.overcooked.kitchen import DISHES
from otherminds.worlds.overcooked.level_files import KitchenLevel
from otherminds.worlds.overcooked.rules import ACTIONS, Overcooked
from otherminds.worlds.overcooked.rules import State as Kitchen
from otherminds.worlds.sprites import GREY, hue, ink_on

S = TypeVar("S", bound=Hashable)
A = TypeVar("A", bound=Hashable)
A_contra = TypeVar("A_contra", bound=Hashable, contravariant=True)

Spot = tuple[float, float] | tuple[float, float, str]
"""Where a part of a picture is drawn, and as what: the markup of its title and shapes, if that can change."""


class Goal(NamedTuple):
    """What a goal is called, its label, and the colours of its shape and of letters on it."""

    name: str
    label: str
    colour: str
    ink: str

    @classmethod
    def of(cls, name: str, label: str, colour: str) -> Goal:
        """A goal with whichever ink can be read on its colour."""
        return cls(printable(name), label, colour, ink_on(colour))


class Rules(Protocol[S, A_contra]):
    """A world in which nothing is random."""

    @property
    def agents(self) -> tuple[str, ...]:
        """Who acts."""
        ...

    @property
    def initial(self) -> S:
        """The state at the start."""
        ...

    def step(self, state: S, joint: Mapping[str, A_contra], /) -> S:
        """The state after everybody has acted."""
        ...

    def done(self, state: S, /) -> bool:
        """Whether the episode has ended."""
        ...


@dataclass(frozen=True)
class Scene(Generic[S, A]):
    """A world to be shown.

    vocabulary: the actions by their spelling. picture: the start, as SVG with a `<g data-part="agent-0">` for every
    part. spots: the place of every part in a state, None if it is not there. fog: what an agent does not see of a
    state; None if everybody sees everything. goals: in the order in which they are listed. icon: the kind of drawing
    that stands for a goal. ends: what is said at the end if everybody has reached their goal, and if not.
    """

    world: Rules[S, A]
    vocabulary: Mapping[str, A]
    picture: str
    spots: Callable[[S], Mapping[str, Spot | None]]
    fog: Callable[[S, str], Fog] | None
    goals: Mapping[str, Goal]
    icon: str
    ends: tuple[str, str]

    def goal(self, name: str) -> Goal:
        """The goal of this name; a grey one if the world has none."""
        return self.goals.get(name) or Goal.of(name, printable(name)[:1].upper(), GREY)

    def rank(self, name: str) -> tuple[int, str]:
        """Where a goal stands in the order; unknown ones come last."""
        order = list(self.goals)
        return order.index(name) if name in order else len(order), name


def scene(level: Level | KitchenLevel) -> Scene[Any, Any]:
    """The world of a level, to be shown."""
    world = level.world
    return _kitchen(world) if isinstance(world, Overcooked) else _map(world)


def _map(world: DoorsKeysGems) -> Scene[Map, Action]:
    letters = colour_labels(world)
    colours = dict.fromkeys(gem.colour for gem in world.gems)
    return Scene(
        world=world,
        vocabulary=world.vocabulary,
        picture=map_drawing.draw(world, world.initial, goals=True).svg(),
        spots=lambda state: map_drawing.placements(world, state),
        fog=None,
        goals={colour: Goal.of(f"{colour} gem", letters[colour], hue(colour)) for colour in colours},
        icon="gem",
        ends=("Everybody has their gem", "Not everybody had their gem"),
    )


def _kitchen(world: Overcooked) -> Scene[Kitchen, str]:
    def spots(state: Kitchen) -> dict[str, Spot | None]:
        parts = kitchen_drawing.moving_parts(world, state)
        return {part.name: (*part.place, canvas.svg_look(part)) if part.place else None for part in parts}

    return Scene(
        world=world,
        vocabulary={action: action for action in ACTIONS},
        picture=kitchen_drawing.draw(world, world.initial, numbered=True).svg(),
        spots=spots,
        fog=lambda state, agent: kitchen_drawing.fog(world, state, agent),
        goals={recipe: Goal.of(name, *kitchen_drawing.recipe_mark(recipe)) for recipe, name in DISHES.items()},
        icon="dish",
        ends=("Every dish is delivered", "Not every dish was delivered"),
    )
