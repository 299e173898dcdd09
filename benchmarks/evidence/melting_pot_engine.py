"""The engine of Melting Pot (Agapiou et al. 2022), observed in enough detail to check the library's rules against it.

It runs DeepMind Lab2D with the levels of dm-meltingpot; both are optional. dm-meltingpot is never imported as a
package, which would load TensorFlow and the saved bots: its modules are imported from their files. The engine is not
reproducible from a seed, so its observations are recorded (see `melting_pot_traces`).
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.evidence.melting_pot_traces import SOURCE, Body, SeenKitchen, SeenMatrix
from otherminds.errors import InputError, install_hint, unknown

SUBSTRATES = {
    "rws_repeated": "running_with_scissors_in_the_matrix__repeated",
    "rws_arena": "running_with_scissors_in_the_matrix__arena",
    "pd_repeated": "prisoners_dilemma_in_the_matrix__repeated",
    "cooking_asymmetric": "collaborative_cooking__asymmetric",
}
FOLDER = "OTHERMINDS_MELTINGPOT"
INSTALL = install_hint("meltingpot")
SLOW_API = ("chex", "reactivex")  # only Melting Pot's own API needs them, and chex brings JAX along
LEVELS = (
    f"{INSTALL}, then `pip download --no-deps --no-binary :all: dm-meltingpot==2.4.1`, unpack that archive, "
    f"and set {FOLDER} to the folder in it that holds `meltingpot`"
)


class MeltingPotEngine:
    """One substrate, played step by step. Raises InputError if Lab2D or the levels of dm-meltingpot are missing."""

    def __init__(self, substrate: str, *, folder: Path | None = None, seed: int) -> None:
        if substrate not in SUBSTRATES:
            raise unknown("substrate", substrate, SUBSTRATES)
        module = upstream(f"configs.substrates.{SUBSTRATES[substrate]}", folder)
        self.substrate = substrate
        self._level = Lab2dLevel(module, upstream("utils.substrates.builder", folder))
        self._lab2d, self._runfiles = _library("dmlab2d"), _library("dmlab2d.runfiles_helper").find()
        self._seeds = itertools.count(seed)
        self._lab: Any = None
        self.players = self._level.players
        self.ended = True

    def reset(self) -> SeenMatrix | SeenKitchen:
        """Build the level anew, as Melting Pot does; the first observation of the episode."""
        seed = next(self._seeds) % 2**31
        self._lab = self._lab2d.Lab2d(self._runfiles, {**self._level.settings, "env_seed": str(seed + 1)})
        self._lab.start(0, seed=seed)
        self.ended = False
        return self._shown()

    def step(self, joint: Sequence[int]) -> SeenMatrix | SeenKitchen:
        """The observation after a joint action, given as indices into the eight actions of each player.

        Raises ValueError if the episode has ended or not begun, or the number of actions is wrong.
        """
        if self.ended:
            raise ValueError("the episode has ended or not begun: reset the engine first")
        if len(joint) != self.players:
            raise ValueError(f"{len(joint)} actions for {self.players} players")
        parts = {f"{k}.{name}": n for k, a in enumerate(joint, 1) for name, n in self._level.actions[a].items()}
        order = self._lab.action_discrete_names()
        self._lab.act_discrete(np.array([parts[name] for name in order], dtype=np.int32))
        status, _ = self._lab.advance()
        self.ended = status != self._lab2d.RUNNING
        return self._shown()

    def _shown(self) -> SeenMatrix | SeenKitchen:
        view = self._whole_map()
        return self._shown_kitchen(view) if self._level.is_kitchen else self._shown_matrix(view)

    def _observation(self, player: int, name: str) -> Any:
        return np.asarray(self._lab.observation(f"{player + 1}.{name}")).tolist()

    def _whole_map(self) -> Sprites | None:
        """The map's sprites, shape (height, width, layers), as the first living player sees them; None without one."""
        width, height = self._level.size
        for player in range(self.players):
            view: Sprites = np.asarray(self._lab.observation(f"{player + 1}.LAYER"))
            if view.min() == view.max():  # the dead see black
                continue
            if view[0, 0, 0] != self._level.number(BEYOND):
                raise InputError("the sprites of this Melting Pot are unknown", hint=f"this reads those of {SOURCE}")
            x, y = self._observation(player, "POSITION")
            return view[height - y : 2 * height - y, width - x : 2 * width - x]
        return None

    def _bodies(self, view: Sprites | None) -> tuple[Body | None, ...]:
        bodies: dict[int, Body] = {}
        if view is not None:
            owners = self._level.avatars[view]
            for y, x, layer in np.argwhere(owners >= 0).tolist():
                bodies[int(owners[y, x, layer])] = (x, y, facing(int(view[y, x, layer])))
        return tuple(bodies.get(player) for player in range(self.players))

    def _rewards(self) -> tuple[float, ...]:
        return tuple(float(self._observation(player, "REWARD")) for player in range(self.players))

    def _per_kind(self, player: int, event: str) -> tuple[int, ...]:
        kinds = range(1, len(self._level.resources) + 1)
        return tuple(int(self._observation(player, f"{event}_RESOURCE_{kind}")) for kind in kinds)

    def _shown_matrix(self, view: Sprites | None) -> SeenMatrix:
        players = range(self.players)
        resources = None
        if view is not None:
            kinds = self._level.kinds[view]
            visible_resources = ((x, y, int(kinds[y, x, layer])) for y, x, layer in np.argwhere(kinds >= 0).tolist())
            resources = tuple(sorted(visible_resources))
        met = (self._observation(p, "INTERACTION_INVENTORIES") for p in players)
        return SeenMatrix(
            bodies=self._bodies(view),
            resources=resources,
            inventory=tuple(tuple(map(int, self._observation(p, "INVENTORY"))) for p in players),
            ready=tuple(float(self._observation(p, "READY_TO_SHOOT")) for p in players),
            rewards=self._rewards(),
            met=tuple((tuple(own), tuple(partner)) for own, partner in met),
            interacted=tuple(bool(self._observation(p, "INTERACTED_THIS_STEP")) for p in players),
            collected=tuple(self._per_kind(p, "COLLECTED") for p in players),
            destroyed=tuple(self._per_kind(p, "DESTROYED") for p in players),
            ended=self.ended,
        )

    def _shown_kitchen(self, view: Sprites | None) -> SeenKitchen:
        if view is None:
            raise InputError("all cooks are gone", hint=f"this reads {SOURCE}")
        bodies = tuple(body for body in self._bodies(view) if body is not None)
        cells = {(x, y): self._level.on(view[y, x]) for y, x in np.ndindex(view.shape[:2])}
        items = {cell: held(names) for cell, names in cells.items()}
        pots = ((*cell, *inside) for cell, names in cells.items() if (inside := pot(names)))
        return SeenKitchen(
            bodies=bodies,
            hands=tuple(items[x, y] for x, y, _ in bodies),
            counters=tuple(sorted((*cell, items[cell]) for cell in cells if "counter" in cells[cell] and items[cell])),
            pots=tuple(sorted(pots)),
            rewards=self._rewards(),
            ended=self.ended,
        )


def upstream(name: str, folder: Path | None = None) -> ModuleType:
    """The module `meltingpot.<name>` from `folder`, the folder in OTHERMINDS_MELTINGPOT, or an installed copy.

    Raises InputError, with a hint on installing, if the module or one of its imports is missing, and if another copy of
    dm-meltingpot is in use.
    """
    loaded = sys.modules.get("meltingpot")
    if loaded is None:
        spec = ModuleSpec("meltingpot", None)
        spec.submodule_search_locations = [str(_files(folder))]
        sys.modules["meltingpot"] = importlib.util.module_from_spec(spec)
    elif folder is not None and str(_files(folder)) not in loaded.__path__:
        raise InputError("another copy of dm-meltingpot is in use", path=folder, hint="one process can use one copy")
    return _library(f"meltingpot.{name}")


def _files(folder: Path | None) -> Path:
    unpacked_folder = folder or (Path(os.environ[FOLDER]) if os.environ.get(FOLDER) else None)
    if unpacked_folder is None:
        spec = importlib.util.find_spec("meltingpot")  # finds its files, runs none of them
        if spec is None or not spec.submodule_search_locations:
            raise InputError("the levels of dm-meltingpot are not here", hint=LEVELS)
        return Path(next(iter(spec.submodule_search_locations)))
    root = unpacked_folder.absolute() / "meltingpot"
    if not (root / "lua" / "levels").is_dir():
        raise InputError("has no levels of dm-meltingpot in `meltingpot/lua/levels`", path=unpacked_folder, hint=LEVELS)
    return root


def _library(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        missing = error.name or name
        hint = f"pip install {missing}" if missing in SLOW_API else INSTALL
        raise InputError(f"`{missing}`, which Melting Pot needs, cannot be imported: {error}", hint=hint) from None


# Levels


BEYOND = "OutOfBounds"
HELD = ("empty", "tomato", "dish", "soup")
POT = "CookingPot_"
SCENE = {  # Lab2D's default for levels without a scene; given explicitly, as the default prints warnings
    "name": "scene",
    "components": [
        {"component": "StateManager", "kwargs": {"initialState": "scene", "stateConfigs": [{"state": "scene"}]}},
        {"component": "Transform"},
    ],
}

Sprites = NDArray[np.int32]


class Lab2dLevel:
    """A level as Lab2D takes it, with every player seeing the whole map, and the meaning of its sprite numbers."""

    def __init__(self, module: ModuleType, builder: ModuleType) -> None:
        config = module.get_config()
        self.players = len(config.default_player_roles)
        self.actions: Sequence[Mapping[str, int]] = config.action_set
        plan = module.build(config=config, roles=config.default_player_roles)
        rows = plan["simulation"]["map"].strip("\n").split("\n")
        self.size = max(map(len, rows)), len(rows)
        plan["simulation"].setdefault("scene", SCENE)
        width, height = self.size
        for thing in plan["simulation"]["gameObjects"]:
            for part in [part for part in thing["components"] if part["component"] == "Avatar"]:
                part["kwargs"]["view"].update(left=width, right=width, forward=height, backward=height)
                part["kwargs"]["spriteMap"] = {}  # else all other players look the same
                where = {"component": "LocationObserver", "kwargs": {"objectIsAvatar": True}}
                thing["components"].append(where)
        self.names = sorted({BEYOND, "OutOfView", *_sprite_names(plan["simulation"])})
        settings = builder.config_dict.ConfigDict(plan).unlock()
        builder.maybe_build_and_add_avatar_objects(settings)
        builder.locate_and_overwrite_level_directory(settings)
        self.settings: Mapping[str, str] = dict(builder.parse_python_settings_for_dmlab2d(settings))
        self.is_kitchen = "counter" in self.names
        # the sprites of the resources, kind by kind
        self.resources = [name for name in self.names if name.startswith("resource_class")]
        # the player whose body, and the kind of resource, that each sprite number shows, −1 for other sprites
        self.avatars = self._places_in([name for name in self.names if name.removeprefix("Avatar").isdecimal()])
        self.kinds = self._places_in(self.resources)

    def number(self, name: str) -> int:
        """The number of a sprite facing north. Lab2D numbers sprites by name, four facings each, from 1."""
        return 4 * self.names.index(name) + 1

    def on(self, cell: Sprites) -> list[str]:
        """The sprites on all layers of a cell."""
        return [self.names[(number - 1) // 4] for number in cell.tolist() if number > 0]

    def _places_in(self, names: Sequence[str]) -> NDArray[np.int64]:
        """The place in `names` of the sprite that each number shows, −1 for others; shape (sprite numbers,)."""
        table = np.full(4 * len(self.names) + 1, -1)
        for place, name in enumerate(names):
            table[self.number(name) : self.number(name) + 4] = place
        return table


def facing(number: int) -> int:
    """The facing of a sprite: 0 north, 1 east, 2 south, 3 west."""
    return (number - 1) % 4


def held(names: Sequence[str]) -> int:
    """The item in a cell or in the hands of a player there: 0 nothing, 1 tomato, 2 dish, 3 soup."""
    items = (name.removesuffix("_offset") for name in names)
    return next((HELD.index(item) for item in items if item in HELD), 0)


def pot(names: Sequence[str]) -> tuple[int, bool] | None:
    """The number of tomatoes in a cell's pot, and whether they are cooked; None without a pot."""
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
            yield f"interact_{place}"  # one for each player; only its place in the order of names matters


def _components(plan: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(plan, Mapping):
        if "component" in plan:
            yield plan
        for value in plan.values():
            yield from _components(value)
    elif isinstance(plan, list | tuple):
        for value in plan:
            yield from _components(value)
