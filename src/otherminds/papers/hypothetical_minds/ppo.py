"""A policy for matrix worlds that was trained by PPO: a small network from a player's view to its next action.

    network = shipped("rws_repeated")                   # or read_network(path, world)
    mind = Trained.initial(world, "Ana", network)

The network sees the window, its own inventory, whether it can shoot, and the inventory and reward of its last meeting.
It sees nothing else of a partner, nor its place on the map. `benchmarks/evidence/train_ppo.py` trains such networks.
"""

from __future__ import annotations

import io
import zlib
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple, Self
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from otherminds.distribution import Categorical
from otherminds.errors import InputError, unknown
from otherminds.files.text import opened, write_whole
from otherminds.worlds.avatars import ACTIONS, AHEAD, OUTSIDE, Action
from otherminds.worlds.in_the_matrix.map_files import SUBSTRATES, in_the_matrix
from otherminds.worlds.in_the_matrix.world import FROZEN, PLAYER, RESOURCE, WALL, InTheMatrix, MatrixView, sighting

Float = NDArray[np.float32]
Layer = tuple[Float, Float]
LARGEST = 4_000_000  # bytes of a file of weights, packed or unpacked
LONGEST = 100  # characters of names in a message
LOOKS = FROZEN + 1  # looks of a player: plain, ready, frozen
BROKEN = (BadZipFile, ValueError, KeyError, EOFError, MemoryError, NotImplementedError, RuntimeError, zlib.error)


class ViewArrays(NamedTuple):
    """The views of players in one step, in arrays of any shape: one player, or all players of many environments.

    `windows` and `inventories` have one more axis, for the cells and the kinds of resources.
    """

    t: NDArray[np.integer]
    windows: NDArray[np.integer]
    inventories: NDArray[np.integer]
    ready: NDArray[np.floating]
    frozen: NDArray[np.bool_]
    rewards: NDArray[np.floating]


class MeetingMemory(NamedTuple):
    """The last inventory of players that was worth a meeting, whether they are dead, and their last meeting.

    A player that has not seen anything yet counts as dead.
    """

    inventories: Float
    dead: NDArray[np.bool_]
    meeting: Float


@dataclass(frozen=True, eq=False)
class Senses:
    """The features of a view. `table` has a row for each code of a window, from OUTSIDE on: see `_table`.

    `kinds` and `cells` are the numbers of kinds of resources and of cells in a window. `other_places` are the places of
    a window except the player's own, `scale` is the largest payoff.
    """

    kinds: int
    cells: int
    other_places: NDArray[np.intp]
    table: Float
    scale: float

    @classmethod
    def of(cls, world: InTheMatrix) -> Self:
        """The senses of all players in a world. Raises InputError if a player there sees the whole map."""
        if world.all_seeing:
            raise InputError("a trained policy sees a window only", hint="make the world without `all_seeing`")
        (rows, columns), reach = world.rules.field.shape, world.rules.field.reach
        own = reach.forward * columns + reach.left
        scale = float(np.abs(world.rules.payoffs).max()) or 1.0
        kinds = len(world.rules.resources)
        return cls(kinds, rows * columns, np.delete(np.arange(rows * columns), own), _table(world), scale)

    @property
    def width(self) -> int:
        """The number of features."""
        return len(self.other_places) * int(self.table.shape[1]) + 2 * self.kinds + 5

    def blank(self, shape: tuple[int, ...] = ()) -> MeetingMemory:
        """The memory of players that have seen nothing yet."""
        inventories = np.ones((*shape, self.kinds), dtype=np.float32)
        return MeetingMemory(
            inventories, np.ones(shape, dtype=np.bool_), np.zeros((*shape, self.kinds + 2), dtype=np.float32)
        )

    def remember(self, memory: MeetingMemory, views: ViewArrays) -> MeetingMemory:
        """The memory after one more step. A meeting is over when the player dies of it; it pays in that step.

        The inventory then is the last one worth a meeting: the winner's own is empty at once.
        """
        fresh = np.expand_dims(views.t == 0, -1)
        worth = views.inventories.max(axis=-1, keepdims=True) > 1
        inventories = np.where(worth, views.inventories, np.where(fresh, 1, memory.inventories)).astype(np.float32)
        dead = (views.windows == OUTSIDE).all(axis=-1)
        over = (dead & ~memory.dead)[..., None]
        rewards = np.asarray(views.rewards / self.scale, dtype=np.float32)[..., None]
        meeting = np.concatenate([np.ones_like(rewards), _shares(inventories), rewards], axis=-1)
        past = np.where(fresh, np.float32(0), memory.meeting)
        return MeetingMemory(inventories, dead, np.where(over, meeting, past))

    def features(self, views: ViewArrays, memory: MeetingMemory) -> Float:
        """The input of a network: an array with one more axis than those for players and environments."""
        window = self.table[views.windows[..., self.other_places] + 1]
        window = window.reshape(*window.shape[:-2], -1)
        total = np.log(views.inventories.sum(axis=-1) / self.kinds)
        numbers = np.stack([total, views.ready, views.frozen], axis=-1, dtype=np.float32, casting="unsafe")
        return np.concatenate([window, _shares(views.inventories), numbers, memory.meeting], axis=-1)

    def seen(self, view: MatrixView) -> ViewArrays:
        """The view of one player as arrays."""
        window = view.window or (OUTSIDE,) * self.cells
        numbers = (view.ready_to_shoot, view.frozen, view.reward)
        return ViewArrays(np.array(view.t), np.array(window), np.array(view.inventory), *map(np.array, numbers))


def _table(world: InTheMatrix) -> Float:
    """For each code: a wall or beyond the map; each kind; each look of a player, and where it faces as (x, y)."""
    kinds = len(world.rules.resources)
    codes = range(OUTSIDE, PLAYER + 16 * world.rules.players)
    table = np.zeros((len(codes), 1 + kinds + LOOKS + 2), dtype=np.float32)
    for row, code in zip(table, codes, strict=True):
        player = sighting(code)
        if code in (OUTSIDE, WALL):
            row[0] = 1
        elif RESOURCE <= code < RESOURCE + kinds:
            row[1 + code - RESOURCE] = 1
        elif player is not None and player.look < LOOKS:
            row[1 + kinds + player.look] = 1
            row[-2:] = AHEAD[player.facing]
    return table


def _shares(inventories: NDArray[np.number]) -> Float:
    """Counts as shares of their sum over the last axis."""
    shares: Float = (inventories / inventories.sum(axis=-1, keepdims=True)).astype(np.float32)
    return shares


@dataclass(frozen=True, eq=False)
class Network:
    """Layers of weights and biases, with tanh in between; the last gives a score for each of the eight actions."""

    layers: tuple[Layer, ...]

    def scores(self, features: Float) -> Float:
        """The logits of the actions."""
        *hidden, (weights, biases) = self.layers
        for inner, bias in hidden:
            features = np.tanh(features @ inner + bias)
        return features @ weights + biases

    def save(self, path: Path) -> None:
        """Write it as .npz, in half precision. Raises InputError if it cannot be written."""
        arrays = (pair for k, layer in enumerate(self.layers) for pair in zip(_names(k), layer, strict=True))
        buffer = io.BytesIO()
        np.savez_compressed(buffer, allow_pickle=False, **{name: array.astype(np.float16) for name, array in arrays})
        write_whole(path, [buffer.getvalue()])


def _names(layer: int) -> tuple[str, str]:
    """The names of a layer's weights and biases in a file."""
    return f"weights{layer}", f"biases{layer}"


def read_network(path: Path, world: InTheMatrix) -> Network:
    """Read a network for a world. Raises InputError if the file is none, or one for another kind of world."""
    try:
        with opened(path) as file:
            raw = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", path=path) from None
    return _network_of(raw, path, Senses.of(world).width)


@cache
def shipped(substrate: str) -> Network:
    """The network that was trained in one of Melting Pot's worlds. Raises InputError for another name."""
    world = in_the_matrix(substrate)
    file = resources.files("otherminds.papers.hypothetical_minds").joinpath("weights", f"ppo-{substrate}.npz")
    return _network_of(file.read_bytes(), Path(file.name), Senses.of(world).width)


def shipped_for(world: InTheMatrix) -> Network:
    """The network that was trained in this world, however long its episodes are. Raises InputError if none was."""
    rules = ((name, in_the_matrix(name).rules) for name in SUBSTRATES)
    name = next(
        (name for name, substrate_rules in rules if replace(world.rules, ends=substrate_rules.ends) == substrate_rules),
        None,
    )
    if name is None:
        hint = "`benchmarks/evidence/train_ppo.py` trains one for Melting Pot's worlds"
        raise InputError("no network is shipped for this world", hint=hint)
    return shipped(name)


def _network_of(raw: bytes, path: Path, width: int) -> Network:
    """The network in the bytes of an .npz file, for `width` features. Raises InputError if its arrays do not fit."""
    arrays = _arrays(raw, path)
    count = len(arrays) // 2
    expected = [name for k in range(count) for name in _names(k)]
    if not count or sorted(expected) != sorted(arrays):
        names_found = ", ".join(sorted(arrays))[:LONGEST] or "none"
        raise InputError(f"has the arrays {names_found}", path=path, hint="weights0, biases0, weights1, … expected")
    layers: list[Layer] = []
    for k in range(count):
        weights, biases = (arrays[name] for name in _names(k))
        outputs = len(ACTIONS) if k == count - 1 else biases.size
        for name, array, shape in zip(_names(k), (weights, biases), ((width, outputs), (outputs,)), strict=True):
            _check_array(name, array, shape, path)
        layers.append((weights.astype(np.float32), biases.astype(np.float32)))
        width = outputs
    return Network(tuple(layers))


def _arrays(raw: bytes, path: Path) -> dict[str, NDArray[np.floating]]:
    """The arrays in an .npz, a zip of arrays. Raises InputError for anything but numbers, and for large files."""
    arrays = {}
    try:
        with ZipFile(io.BytesIO(raw)) as archive:
            if len(raw) > LARGEST or sum(info.file_size for info in archive.infolist()) > LARGEST:
                raise InputError(f"is larger than {LARGEST:,} bytes", path=path)
            for name in archive.namelist():
                with archive.open(name) as file:
                    arrays[name.removesuffix(".npy")] = np.lib.format.read_array(file, allow_pickle=False)
    except InputError:
        raise
    except BROKEN as error:
        raise InputError(f"is no .npz file of numbers: {error}", path=path) from None
    return arrays


def _check_array(name: str, array: NDArray[np.floating], shape: tuple[int, ...], path: Path) -> None:
    """Raise InputError unless the array has this shape, and finite numbers of 16 or 32 bits."""
    if array.shape != shape:
        hint = "was it trained in another world?"
        raise InputError(f"`{name}` has the shape {array.shape}, not {shape}", path=path, hint=hint)
    if array.dtype not in (np.float16, np.float32) or not np.isfinite(array).all():
        raise InputError(f"`{name}` is not all finite numbers of 16 or 32 bits", path=path)


@dataclass(frozen=True, eq=False)
class Trained:
    """A mind that samples its actions from a network: π(a | view, last meeting)."""

    senses: Senses
    network: Network
    memory: MeetingMemory
    views: ViewArrays | None = None

    @classmethod
    def initial(cls, world: InTheMatrix, agent: str, network: Network) -> Self:
        """The mind at the start of an episode. Raises InputError for an unknown agent."""
        if agent not in world.agents:
            raise unknown("agent", agent, world.agents)
        senses = Senses.of(world)
        return cls(senses, network, senses.blank())

    def observe(self, view: MatrixView) -> Self:
        """The mind after one more view; it remembers the last meeting."""
        views = self.senses.seen(view)
        return replace(self, memory=self.senses.remember(self.memory, views), views=views)

    def act(self) -> Categorical[Action]:
        """The network's distribution over the eight actions; uniform before the first view."""
        if self.views is None:
            return Categorical.uniform(ACTIONS)
        scores = self.network.scores(self.senses.features(self.views, self.memory))
        return Categorical.softmax(zip(ACTIONS, scores.tolist(), strict=True))
