"""A level of Melting Pot as Lab2D takes it, with every player seeing the whole map, and how to read its sprites."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

BEYOND = "OutOfBounds"
HELD = ("empty", "tomato", "dish", "soup")
POT = "CookingPot_"
SCENE = {  # what a level without one gets, along with warnings among the standard output
    "name": "scene",
    "components": [
        {"component": "StateManager", "kwargs": {"initialState": "scene", "stateConfigs": [{"state": "scene"}]}},
        {"component": "Transform"},
    ],
}

Sprites = NDArray[np.int32]


class Level:
    """What to start Lab2D with, and what the numbers it shows mean."""

    def __init__(self, module: ModuleType, builder: ModuleType) -> None:
        config = module.get_config()
        self.players = len(config.default_player_roles)
        self.actions: Sequence[Mapping[str, int]] = config.action_set
        plan = module.build(config=config, roles=config.default_player_roles)
        rows = plan["simulation"]["map"].strip("\n").split("\n")
        self.size = max(map(len, rows)), len(rows)
        plan["simulation"].setdefault("scene", SCENE)
        self._open_eyes(plan["simulation"]["gameObjects"])
        self.names = sorted({BEYOND, "OutOfView", *_sprite_names(plan["simulation"])})
        self.settings = _settings(plan, builder)

    @property
    def is_kitchen(self) -> bool:
        """Whether there is something to cook."""
        return "counter" in self.names

    @cached_property
    def resources(self) -> list[str]:
        """The sprites of the resources, kind by kind."""
        return [name for name in self.names if name.startswith("resource_class")]

    @cached_property
    def avatars(self) -> NDArray[np.int64]:
        """Whose body a sprite number shows, -1 for anything else."""
        return self._places_in([name for name in self.names if name.removeprefix("Avatar").isdecimal()])

    @cached_property
    def kinds(self) -> NDArray[np.int64]:
        """Which kind of resource a sprite number shows, -1 for anything else."""
        return self._places_in(self.resources)

    def number(self, name: str) -> int:
        """The number of a sprite that looks north: Lab2D numbers sprites by name, four each, 0 being none."""
        return 4 * self.names.index(name) + 1

    def on(self, cell: Sprites) -> list[str]:
        """The sprites on all layers of a cell."""
        return [self.names[(number - 1) // 4] for number in cell.tolist() if number > 0]

    def _places_in(self, names: Sequence[str]) -> NDArray[np.int64]:
        table = np.full(4 * len(self.names) + 1, -1)
        for place, name in enumerate(names):
            table[self.number(name) : self.number(name) + 4] = place
        return table

    def _open_eyes(self, things: Sequence[Mapping[str, Any]]) -> None:
        width, height = self.size
        for thing in things:
            for part in list(thing["components"]):
                if part["component"] == "Avatar":
                    part["kwargs"]["view"].update(left=width, right=width, forward=height, backward=height)
                    part["kwargs"]["spriteMap"] = {}  # which would make all others look the same
                    where = {"component": "LocationObserver", "kwargs": {"objectIsAvatar": True}}
                    thing["components"].append(where)


def facing(number: int) -> int:
    """Where a sprite looks: 0 north, 1 east, 2 south, 3 west."""
    return (number - 1) % 4


def held(names: Sequence[str]) -> int:
    """What lies in a cell or in the hands of somebody there: 0 nothing, 1 a tomato, 2 a dish, 3 soup."""
    items = (name.removesuffix("_offset") for name in names)
    return next((HELD.index(item) for item in items if item in HELD), 0)


def pot(names: Sequence[str]) -> tuple[int, bool] | None:
    """How many tomatoes a cell's pot holds and whether they are cooked; None for a cell without a pot."""
    for name in names:
        if name.startswith(POT):
            cooked = name == POT + "cooked"
            return (3 if cooked else name.count("tomato")), cooked
    return None


def _sprite_names(plan: Any) -> Iterator[str]:
    for place, part in enumerate(_components(plan)):
        kwargs = part.get("kwargs", {})
        yield from kwargs.get("spriteNames", ())
        yield from kwargs.get("customSpriteNames", ())
        if part["component"] == "GameInteractionZapper":
            yield "BeamInteraction"
        if part["component"] == "InteractBeam":
            yield f"interact_{place}"  # one for each player; only where it comes in the order matters


def _components(plan: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(plan, Mapping):
        if "component" in plan:
            yield plan
        for value in plan.values():
            yield from _components(value)
    elif isinstance(plan, list | tuple):
        for value in plan:
            yield from _components(value)


def _settings(plan: Mapping[str, Any], builder: ModuleType) -> dict[str, str]:
    settings = builder.config_dict.ConfigDict(plan).unlock()
    builder.maybe_build_and_add_avatar_objects(settings)
    builder.locate_and_overwrite_level_directory(settings)
    return dict(builder.parse_python_settings_for_dmlab2d(settings))
