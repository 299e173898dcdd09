"""The engine of Melting Pot (Agapiou et al. 2022) itself, asked for what a checker of rules needs to see.

It runs DeepMind Lab2D with the levels of dm-meltingpot, both optional. dm-meltingpot is never imported as a whole,
for that loads TensorFlow and the saved bots, which play no part here: its modules are imported from its files. The
engine is not reproducible from a seed, so what it showed is worth recording (see `traces` and `recording`).
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import os
import sys
import time
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from otherminds.adapters.lab2d_level import BEYOND, Level, Sprites, facing, held, pot
from otherminds.adapters.traces import Body, Seen, SeenKitchen
from otherminds.errors import InputError, unknown

SUBSTRATES = {
    "rws_repeated": "running_with_scissors_in_the_matrix__repeated",
    "rws_arena": "running_with_scissors_in_the_matrix__arena",
    "pd_repeated": "prisoners_dilemma_in_the_matrix__repeated",
    "cooking_asymmetric": "collaborative_cooking__asymmetric",
}
FOLDER = "OTHERMINDS_MELTINGPOT"
SOURCE = "dm-meltingpot 2.4.1 on dmlab2d 1.0.2, Apache-2.0"
INSTALL = 'pip install "otherminds[meltingpot]"'
SLOW_API = ("chex", "reactivex")  # only `substrate_api` needs them, and chex brings JAX along
LEVELS = (
    f"{INSTALL}, then `pip download --no-deps --no-binary :all: dm-meltingpot==2.4.1`, unpack that archive, "
    f"and set {FOLDER} to the folder in it that holds `meltingpot`"
)


class Engine:
    """One substrate, played step by step. Raises InputError if Lab2D or the levels of dm-meltingpot are missing."""

    def __init__(self, substrate: str, *, folder: Path | None = None, seed: int) -> None:
        if substrate not in SUBSTRATES:
            raise unknown("substrate", substrate, SUBSTRATES)
        module = upstream(f"configs.substrates.{SUBSTRATES[substrate]}", folder)
        self.substrate = substrate
        self._level = Level(module, upstream("utils.substrates.builder", folder))
        self._lab2d, self._runfiles = _library("dmlab2d"), _library("dmlab2d.runfiles_helper").find()
        self._seeds = itertools.count(seed)
        self._lab: Any = None
        self.players = self._level.players
        self.ended = True

    def reset(self) -> Seen | SeenKitchen:
        """Build the level anew, as Melting Pot does, and show how the episode starts."""
        seed = next(self._seeds) % 2**31
        self._lab = self._lab2d.Lab2d(self._runfiles, {**self._level.settings, "env_seed": str(seed + 1)})
        self._lab.start(0, seed=seed)
        self.ended = False
        return self._shown()

    def step(self, joint: Sequence[int]) -> Seen | SeenKitchen:
        """What everybody's actions, as indices into the eight, lead to. Raises ValueError once it has ended."""
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

    def _shown(self) -> Seen | SeenKitchen:
        view = self._whole_map()
        return self._kitchen(view) if self._level.is_kitchen else self._matrix(view)

    def _tell(self, player: int, what: str) -> Any:
        return np.asarray(self._lab.observation(f"{player + 1}.{what}")).tolist()

    def _whole_map(self) -> Sprites | None:
        """Sprites as [y, x, layer], through the eyes of the first player who is alive; None when nobody is."""
        width, height = self._level.size
        for player in range(self.players):
            view: Sprites = np.asarray(self._lab.observation(f"{player + 1}.LAYER"))
            if view.min() == view.max():  # the dead see black
                continue
            if view[0, 0, 0] != self._level.number(BEYOND):
                raise InputError("the sprites of this Melting Pot are unknown", hint=f"this reads those of {SOURCE}")
            x, y = self._tell(player, "POSITION")
            return view[height - y : 2 * height - y, width - x : 2 * width - x]
        return None

    def _bodies(self, view: Sprites | None) -> tuple[Body | None, ...]:
        found: dict[int, Body] = {}
        if view is not None:
            whose = self._level.avatars[view]
            for y, x, layer in np.argwhere(whose >= 0).tolist():
                found[int(whose[y, x, layer])] = (x, y, facing(int(view[y, x, layer])))
        return tuple(found.get(player) for player in range(self.players))

    def _resources(self, view: Sprites) -> tuple[tuple[int, int, int], ...]:
        kinds = self._level.kinds[view]
        return tuple(sorted((x, y, int(kinds[y, x, layer])) for y, x, layer in np.argwhere(kinds >= 0).tolist()))

    def _rewards(self) -> tuple[float, ...]:
        return tuple(float(self._tell(player, "REWARD")) for player in range(self.players))

    def _per_kind(self, player: int, event: str) -> tuple[int, ...]:
        kinds = range(1, len(self._level.resources) + 1)
        return tuple(int(self._tell(player, f"{event}_RESOURCE_{kind}")) for kind in kinds)

    def _matrix(self, view: Sprites | None) -> Seen:
        everybody = range(self.players)
        met = (self._tell(p, "INTERACTION_INVENTORIES") for p in everybody)
        return Seen(
            bodies=self._bodies(view),
            resources=None if view is None else self._resources(view),
            inventory=tuple(tuple(map(int, self._tell(p, "INVENTORY"))) for p in everybody),
            ready=tuple(float(self._tell(p, "READY_TO_SHOOT")) for p in everybody),
            rewards=self._rewards(),
            met=tuple((tuple(own), tuple(partner)) for own, partner in met),
            interacted=tuple(bool(self._tell(p, "INTERACTED_THIS_STEP")) for p in everybody),
            collected=tuple(self._per_kind(p, "COLLECTED") for p in everybody),
            destroyed=tuple(self._per_kind(p, "DESTROYED") for p in everybody),
            ended=self.ended,
        )

    def _kitchen(self, view: Sprites | None) -> SeenKitchen:
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


def substrate_api(substrate: str, folder: Path | None = None) -> Any:
    """The substrate as dm-meltingpot itself offers it to users, an environment of dm_env."""
    name = SUBSTRATES[substrate]
    roles = upstream(f"configs.substrates.{name}", folder).get_config().default_player_roles
    return upstream("substrate", folder).build(name, roles=roles)


def api_steps(substrate: str, steps: int, rng: np.random.Generator, folder: Path | None = None) -> float:
    """The seconds of processor time that uniformly random steps take through `substrate_api`, after a first reset."""
    environment = substrate_api(substrate, folder)
    players = len(environment.action_spec())
    joints = rng.integers(8, size=(steps, players)).tolist()
    environment.reset()
    start = time.process_time()
    for joint in joints:
        environment.step(joint)
    return time.process_time() - start


def upstream(name: str, folder: Path | None = None) -> ModuleType:
    """The module `meltingpot.<name>`, from `folder`, the folder in OTHERMINDS_MELTINGPOT, or an installed copy.

    Raises InputError, saying what to install, if it or something that it imports is missing.
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
    given = folder or (Path(os.environ[FOLDER]) if os.environ.get(FOLDER) else None)
    if given is None:
        spec = importlib.util.find_spec("meltingpot")  # finds its files, runs none of them
        if spec is None or not spec.submodule_search_locations:
            raise InputError("the levels of dm-meltingpot are not here", hint=LEVELS)
        return Path(next(iter(spec.submodule_search_locations)))
    root = given.absolute() / "meltingpot"
    if not (root / "lua" / "levels").is_dir():
        raise InputError("has no levels of dm-meltingpot in `meltingpot/lua/levels`", path=given, hint=LEVELS)
    return root


def _library(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        missing = error.name or name
        hint = f"pip install {missing}" if missing in SLOW_API else INSTALL
        raise InputError(f"`{missing}`, which Melting Pot needs, cannot be imported: {error}", hint=hint) from None
