"""Worlds as environments of PettingZoo; importing this module needs PettingZoo (see `petting_zoo.parallel_env`).

An action is its place in a fixed list. An observation keeps its fields, each written in one of these ways:

- one of a list of values: Discrete, its place in the list; if there may be nothing to see, the first place is None
- numbers: Box of integers, or of float32 for payoffs; −1 where something is not seen, unless `interface` says otherwise
- a cell of a grid: Box, its column and row, both from 0
- a thing in a kitchen: Box, how many it has of each of `kitchen.PARTS`
- a set of names: Box of 0 and 1; pairs of a name and a value: Dict, a member for every name
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial, singledispatch
from operator import index
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, Space, flatten, flatten_space
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from otherminds.errors import InputError
from otherminds.reports.terminal.screens import DRAWINGS, drawing_of
from otherminds.world import World
from otherminds.worlds import avatars
from otherminds.worlds.clue_games import small_hanabi
from otherminds.worlds.clue_games.small_hanabi import SmallHanabi
from otherminds.worlds.collaborative_cooking import rules as cooking
from otherminds.worlds.collaborative_cooking.rules import CollaborativeCooking
from otherminds.worlds.doors_keys_gems import level_files
from otherminds.worlds.doors_keys_gems.rules import USED, DoorsKeysGems
from otherminds.worlds.grid import Grid
from otherminds.worlds.household.rules import Household
from otherminds.worlds.in_the_matrix import world as in_the_matrix
from otherminds.worlds.in_the_matrix.view_arrays import ViewArrays, views_of
from otherminds.worlds.in_the_matrix.world import InTheMatrix
from otherminds.worlds.overcooked import level_files as kitchen_files
from otherminds.worlds.overcooked import rules as overcooked
from otherminds.worlds.overcooked.kitchen import MANY, PARTS
from otherminds.worlds.overcooked.rules import Overcooked
from otherminds.worlds.repeated_games.rules import RepeatedGame
from otherminds.worlds.text_grid import MOVES, TextGrid

Mask = NDArray[np.int8]
Infos = dict[str, dict[str, Mask]]
Given = tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], Infos]
PIXELS = 24  # of a cell in pictures; as in films


class LegalDiscrete(Discrete[np.int64]):
    """A Discrete space that samples legal actions only; `legal` is the mask of the current state."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.legal: Mask = np.ones(n, np.int8)

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        """Draw uniformly from the actions that the mask allows, by default the legal ones."""
        if mask is None and probability is None:
            mask = self.legal
        return super().sample(mask, probability)


class ParallelWorld(ParallelEnv[str, Any, Any]):  # type: ignore[misc]  # PettingZoo has no types
    """A world as an environment of PettingZoo, made by `petting_zoo.parallel_env`.

    `actions[agent][k]` is the world's action with number k, `world_state` the current state of the world, and
    `write(state)` what all agents observe of a state, by agent.
    """

    def __init__(
        self,
        world: World[Any, Any, Any],
        *,
        steps: int | None = None,
        render_mode: str | None = None,
        flat: bool = False,
    ) -> None:
        if steps is not None and steps < 1:
            raise InputError(f"an episode needs at least 1 step, not {steps}")
        by_mode = drawings(world)
        if render_mode not in (None, *by_mode):
            hint = f"one of {', '.join(by_mode)}" if by_mode else "it cannot be drawn: leave the mode out"
            raise InputError(f"this world has no render mode `{render_mode}`", hint=hint)
        self.metadata = {"name": type(world).__name__, "render_modes": [*by_mode], "is_parallelizable": True}
        self.world, self.steps, self.render_mode = world, steps, render_mode
        self.possible_agents, self.agents = list(world.agents), list[str]()
        self._draw = None if render_mode is None else by_mode[render_mode]
        sides = {agent: interface(world, agent) for agent in world.agents}
        codes = {agent: side.observation_code for agent, side in sides.items()}
        self.actions = {agent: side.actions for agent, side in sides.items()}
        self.write, self._flat = observation_writer(world, codes), flat
        self._spaces = {agent: code.space for agent, code in codes.items()}
        self._masked = {agent: LegalDiscrete(len(side.actions)) for agent, side in sides.items() if not side.always}
        self.action_spaces: dict[str, Discrete[np.int64]] = {
            agent: self._masked.get(agent, Discrete(len(actions))) for agent, actions in self.actions.items()
        }
        boxes = {agent: _flat_box(space) for agent, space in self._spaces.items()}
        self.state_space = _side_by_side([*boxes.values()])
        self.observation_spaces: dict[str, Space[Any]] = {**(boxes if flat else self._spaces)}
        if not flat:
            for agent, actions in self._masked.items():
                mask = Box(0, 1, (int(actions.n),), np.int8)
                self.observation_spaces[agent] = Dict({"observation": self._spaces[agent], "action_mask": mask})
        self.world_state: Any = None
        self._t = 0
        self._rng = np.random.default_rng()

    def observation_space(self, agent: str) -> Space[Any]:
        """The space of the agent's observations: always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete[np.int64]:
        """The space of the agent's action numbers: always the same object."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], Infos]:
        """Begin an episode: observations and infos, which depend only on the seed and the actions.

        Without a seed, the random numbers continue; the first ones are unpredictable. `options` are ignored. If the
        world is done at its start, `agents` is empty.
        """
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._t, self.world_state = 0, self.world.start(self._rng)
        self.agents = [] if self.world.done(self.world_state) else list(self.possible_agents)
        return self._observations()

    def step(self, actions: Mapping[str, Any]) -> Given:
        """Take a joint action: observations, rewards, terminations, truncations and infos, by agent.

        Raises ValueError for an action that is missing, unknown or illegal, and after the end of the episode.
        """
        if not self.agents:
            raise ValueError("nobody is there to act: begin an episode with `reset`")
        if odd := actions.keys() - self.action_spaces.keys():
            raise ValueError(f"there is no agent called {min(odd, key=str)!r}: there are {', '.join(self.agents)}")
        joint = {agent: self._action(agent, actions) for agent in self.agents}
        before, self.world_state = self.world_state, self.world.step(self.world_state, joint, self._rng)
        paid = self.world.reward(before, joint, self.world_state)
        self._t += 1
        over = self.world.done(self.world_state)
        cut = not over and self._t == self.steps
        if over or cut:
            self.agents = []
        observations, infos = self._observations()
        agents = self.possible_agents
        rewards = {agent: float(paid[agent]) for agent in agents}
        return observations, rewards, dict.fromkeys(agents, over), dict.fromkeys(agents, cut), infos

    def state(self) -> NDArray[Any]:
        """What all agents observe together, for a central critic: their flat observations one after the other.

        It is a member of `state_space`. What no agent observes is only in `world_state`.
        """
        observations = self.write(self.world_state)
        return np.concatenate([flatten(space, observations[agent]) for agent, space in self._spaces.items()])

    def render(self) -> str | NDArray[np.uint8] | None:
        """The state as a map of text (mode `ansi`) or as a picture (`rgb_array`, height × width × 3), else None."""
        return self._draw(self.world_state) if self._draw else None

    def _action(self, agent: str, actions: Mapping[str, Any]) -> Hashable:
        if agent not in actions:
            raise ValueError(f"{agent} has no action")
        number, own_actions = actions[agent], self.actions[agent]
        try:
            action_number = index(number)
        except TypeError:
            action_number = -1
        if not 0 <= action_number < len(own_actions):
            raise ValueError(f"{agent} has no action {number!r}: they are the numbers from 0 to {len(own_actions) - 1}")
        if agent in self._masked and not self._masked[agent].legal[action_number]:
            raise ValueError(
                f"{agent} cannot do action {action_number} now, {own_actions[action_number]}: see its `action_mask`"
            )
        return own_actions[action_number]

    def _observations(self) -> tuple[dict[str, Any], Infos]:
        """The observations and infos of all agents; updates the masks of legal actions."""
        observations = self.write(self.world_state)
        infos: Infos = {agent: {} for agent in self.possible_agents}
        for agent, space in self._masked.items():
            legal = {*self.world.actions(self.world_state, agent)}
            space.legal = np.array([action in legal for action in self.actions[agent]], np.int8)
            infos[agent] = {"action_mask": space.legal.copy()}
            if not self._flat:
                observations[agent] = {"observation": observations[agent], **infos[agent]}
        if self._flat:
            observations = {agent: flatten(space, observations[agent]) for agent, space in self._spaces.items()}
        return observations, infos


def _flat_box(space: Space[Any]) -> Box:
    """The space of flat observations: what may be one of n values becomes n numbers, one of which is 1."""
    box = flatten_space(space)
    assert isinstance(box, Box)
    return box


def _side_by_side(boxes: Sequence[Box]) -> Box:
    """The space of arrays from these spaces, joined."""
    low, high = (np.concatenate([getattr(box, bound) for box in boxes]) for bound in ("low", "high"))
    return Box(low, high, dtype=low.dtype.type)


def drawings(world: World[Any, Any, Any]) -> dict[str, Callable[[Any], Any]]:
    """By render mode, the function that draws a state of the world; empty if it has no map."""
    by_mode: dict[str, Callable[[Any], Any]] = {}
    if isinstance(world, DoorsKeysGems):
        by_mode["ansi"] = partial(level_files.draw_text, world)
    elif isinstance(world, Overcooked):
        by_mode["ansi"] = partial(kitchen_files.draw_text, world)
    elif hasattr(world, "draw"):
        by_mode["ansi"] = world.draw
    if isinstance(world, tuple(DRAWINGS)):
        draw = drawing_of(world).draw
        by_mode["rgb_array"] = lambda state: np.asarray(draw(world, state).image(PIXELS))
    return by_mode


# Spaces


UNSEEN = -1
Bound = int | Sequence[int]


class SpaceCode(NamedTuple):
    """A space, and the function that writes a value as a member of it."""

    space: Space[Any]
    write: Callable[[Any], Any]


class AgentInterface(NamedTuple):
    """One agent's interface to a world: all its actions, whether all are always legal, and the code of observations."""

    actions: tuple[Hashable, ...]
    always: bool
    observation_code: SpaceCode


@runtime_checkable
class SelfDescribing(Protocol):
    """A world that lists an agent's actions, and the possible values of each field of its observations."""

    def all_actions(self, agent: str) -> tuple[Hashable, ...]:
        """Every action of an agent in any state."""

    def observation_values(self, agent: str) -> Mapping[str, Any]:
        """A mapping of fields, the values of one field, or a list of ranges with a number from each."""


Writer = Callable[[Any], dict[str, Any]]


@singledispatch
def observation_writer(world: World[Any, Any, Any], codes: Mapping[str, SpaceCode]) -> Writer:
    """The function that writes what all agents observe of a state: by their codes, or faster in worlds that can."""
    return one_by_one(world, codes)


def one_by_one(world: World[Any, Any, Any], codes: Mapping[str, SpaceCode]) -> Writer:
    """The function that writes what each agent observes by its code, one agent after the other."""
    return lambda state: {agent: code.write(world.observe(state, agent)) for agent, code in codes.items()}


@observation_writer.register
def _(world: InTheMatrix, codes: Mapping[str, SpaceCode]) -> Writer:
    """All players in one pass; two are faster written one by one."""
    if len(codes) == 2:
        return one_by_one(world, codes)
    views, fields = views_of(world), ViewArrays._fields

    def write(state: Any) -> dict[str, Any]:
        by_player = zip(*views(state), strict=True)
        return {agent: dict(zip(fields, view, strict=True)) for agent, view in zip(codes, by_player, strict=True)}

    return write


@singledispatch
def interface(world: object, agent: str) -> AgentInterface:
    """The interface of an agent. Raises InputError for a world of a kind that is not known here.

    A world that has `all_actions` and `observation_values` describes itself; `interface.register` adds others.
    """
    if isinstance(world, SelfDescribing):
        return AgentInterface(world.all_actions(agent), False, described(world.observation_values(agent)))
    name = type(world).__name__
    raise InputError(f"there are no spaces for worlds of type {name}", hint="add them with `interface.register`")


# Codes


def among(values: Iterable[Hashable]) -> SpaceCode:
    """One of `values`."""
    places = {value: np.int64(place) for place, value in enumerate(values)}
    return SpaceCode(Discrete(len(places)), places.__getitem__)


def maybe(values: Iterable[Hashable]) -> SpaceCode:
    """One of `values`, or None."""
    return among((None, *values))


def numbers(low: Bound, high: Bound, *shape: int, kind: type[np.integer[Any]] = np.int32) -> SpaceCode:
    """An array of numbers within bounds; () and None are written as the lower bound."""
    lower, upper = (np.broadcast_to(np.array(bound, kind), shape).copy() for bound in (low, high))

    def write(value: Any) -> Any:
        return lower.copy() if value is None or value == () else np.array(value, kind).reshape(shape)

    return SpaceCode(Box(lower, upper, dtype=kind), write)


def one(low: float, high: float) -> SpaceCode:
    """One number, such as a payoff; 0 for None."""
    lower, upper = np.array([min(low, 0)], np.float32), np.array([max(high, 0)], np.float32)
    return SpaceCode(Box(lower, upper, dtype=np.float32), lambda value: np.array([value or 0], np.float32))


def subset(names: Sequence[str]) -> SpaceCode:
    """A set of names."""
    return after(numbers(0, 1, len(names), kind=np.int8), lambda value: [name in value for name in names])


def record(**fields: SpaceCode) -> SpaceCode:
    """An object with these fields; for None, all fields are written as None."""

    def write(value: Any) -> dict[str, Any]:
        return {name: code.write(None if value is None else getattr(value, name)) for name, code in fields.items()}

    return SpaceCode(Dict({name: code.space for name, code in fields.items()}), write)


def table(names: Iterable[str], code: SpaceCode) -> SpaceCode:
    """Pairs of a name and a value; missing names are written as None."""
    spaces = dict.fromkeys(names, code.space)

    def write(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
        values_by_name = dict(pairs)
        return {name: code.write(values_by_name.get(name)) for name in spaces}

    return SpaceCode(Dict(spaces), write)


def after(code: SpaceCode, change: Callable[[Any], Any]) -> SpaceCode:
    """The code of `change(value)`."""
    return SpaceCode(code.space, lambda value: code.write(change(value)))


def described(values: Any) -> SpaceCode:
    """The code of a mapping of fields, of a list of ranges (a number from each), or of one of some values.

    A list of fewer numbers than there are ranges ends with UNSEEN.
    """
    if isinstance(values, Mapping):
        return record(**{name: described(field) for name, field in values.items()})
    if isinstance(values, list):
        code = numbers(UNSEEN, [numbers_of.stop - 1 for numbers_of in values], len(values))
        return after(code, lambda seen: [*(seen or ()), *[UNSEEN] * (len(values) - len(seen or ()))])
    return among(values)


def place(grid: Grid) -> SpaceCode:
    """A cell of a grid, or None."""
    return after(numbers(UNSEEN, (grid.width - 1, grid.height - 1), 2), lambda cell: _xy(grid, cell))


def places(grid: Grid, count: int) -> SpaceCode:
    """Cells of a grid; unseen ones are written as (−1, −1)."""
    code = numbers(UNSEEN, (grid.width - 1, grid.height - 1), count, 2)
    return after(code, lambda cells: [_xy(grid, cell) for cell in cells])


def _xy(grid: Grid, cell: int) -> tuple[int, int]:
    return grid.xy(cell) if cell >= 0 else (UNSEEN, UNSEEN)


def _parts(thing: int) -> tuple[int, ...]:
    if thing == overcooked.UNSEEN:
        return (UNSEEN,) * len(PARTS)
    return tuple(thing // part & MANY for part in PARTS.values())


# The worlds


@interface.register
def _(world: DoorsKeysGems, agent: str) -> AgentInterface:
    """The order of the actions is that of `vocabulary`. An item: who holds it, or GROUND (−1) or USED (−2)."""
    people, doors = len(world.agents), range(len(world.doors))
    observation = record(
        cells=places(world.grid, people),
        items=numbers(USED, people - 1, len(world.items)),
        locked=after(numbers(0, 1, len(doors), kind=np.int8), lambda bits: [bits >> door & 1 for door in doors]),
        turn=among(range(people)),
    )
    return AgentInterface(tuple(world.vocabulary.values()), False, observation)


@interface.register
def _(world: SmallHanabi, agent: str) -> AgentInterface:
    """A scene is a row of numbers, the card of the first player last; what has not been told is UNSEEN."""
    kinds = range(len(world.cards))
    told = (world.colours - 1, world.ranks - 1, max(small_hanabi.HINTS))
    counted = (world.tokens, world.lives, sum(world.cards))
    most = (*[world.ranks] * world.colours, *world.cards, *counted, *told, *told)

    def row(table: small_hanabi.HanabiTable) -> list[int]:
        heard = (UNSEEN if value is None else value for one_told in table.told for value in one_told)
        return [*table.heights, *table.gone, table.tokens, table.lives, table.deck, *heard]

    def rows(scenes: Sequence[small_hanabi.HanabiScene] | None) -> list[list[int]]:
        seen = [[*row(scene.table), scene.card] for scene in scenes or ()]
        return [*seen, *[[UNSEEN] * (len(most) + 1)] * (world.most_scenes - len(seen))]

    scenes = after(numbers(UNSEEN, (*most, kinds.stop - 1), world.most_scenes, len(most) + 1), rows)
    actions = (small_hanabi.PLAY, small_hanabi.DISCARD, *small_hanabi.HINTS, small_hanabi.PASS)
    observation = {
        "table": after(numbers(UNSEEN, most, len(most)), row),
        "other": among(kinds),
        "turn": among(range(2)),
        "scenes": scenes,
        "last": record(scenes=scenes, own=maybe(kinds), action=maybe(actions), over=maybe((False, True))),
    }
    return AgentInterface(actions, False, record(**observation))


@interface.register
def _(world: TextGrid, agent: str) -> AgentInterface:
    """The agent sees its column and row."""
    grid = world.grid
    return AgentInterface(tuple(MOVES), False, record(x=among(range(grid.width)), y=among(range(grid.height))))


@interface.register
def _(world: Overcooked, agent: str) -> AgentInterface:
    """`delivered` has room at each delivery for all the dishes there can be, of two parts each or more."""
    grid, people, stations = world.layout.grid, len(world.agents), len(world.layout.deliveries)
    dishes = sum(world.stock.values()) // 2

    def things(count: int) -> SpaceCode:
        return after(numbers(UNSEEN, MANY, count, len(PARTS)), lambda observation: [_parts(t) for t in observation])

    def delivered(heaps: Iterable[tuple[int, ...] | None]) -> list[list[tuple[int, ...]]]:
        full = [(overcooked.UNSEEN,) * dishes if heap is None else heap for heap in heaps]
        return [[_parts(dish) for dish in (*heap, *(0,) * (dishes - len(heap)))] for heap in full]

    observation = record(
        cells=places(grid, people),
        hands=things(people),
        on=things(len(world.on)),
        delivered=after(numbers(UNSEEN, MANY, stations, dishes, len(PARTS)), delivered),
    )
    return AgentInterface(overcooked.ACTIONS, True, observation)


@interface.register
def _(world: RepeatedGame, agent: str) -> AgentInterface:
    """The actions are their numbers in the game. Before the first round there is nothing to see."""
    i = world.agents.index(agent)
    payoff = world.game.payoff(i)
    own, theirs = payoff.shape
    observation = record(own=maybe(range(own)), theirs=maybe(range(theirs)), payoff=one(payoff.min(), payoff.max()))
    return AgentInterface(tuple(range(own)), True, observation)


@interface.register
def _(world: Household, agent: str) -> AgentInterface:
    """The order of the actions is that of `acts`; `last` has each agent's last act, `things` each thing's place."""
    acts = world.acts
    spots = [place.name for place in world.home.places]
    things = list(dict.fromkeys(act.thing for act in acts if act.thing is not None))
    me = record(room=among(world.home.rooms), at=maybe(spots), holds=subset(things))
    observation = record(
        me=me,
        places=subset(spots),
        things=table(things, maybe(spots)),
        opened=subset(spots),
        last=table(world.agents, maybe(acts)),
    )
    return AgentInterface(acts, False, observation)


@interface.register
def _(world: InTheMatrix, agent: str) -> AgentInterface:
    """The eight actions of avatars. The dead see a window that is all OUTSIDE, as in Melting Pot, and have no cell."""
    rules = world.rules
    grid, most, kinds = rules.field.grid, 1 + rules.ends.limit, len(rules.resources)
    shape = (grid.height, grid.width) if agent in world.all_seeing else rules.field.shape
    codes = in_the_matrix.PLAYER + 16 * rules.players
    pays = [pay for matrix in rules.payoffs for row in matrix for pay in row]
    observation = record(
        t=numbers(0, most, 1),
        cell=place(grid),
        facing=among(range(4)),
        window=numbers(avatars.OUTSIDE, codes - 1, *shape, kind=np.int16),
        inventory=numbers(0, most, kinds),
        ready_to_shoot=one(0, 1),
        met=numbers(UNSEEN, most, 2, kinds),
        reward=one(min(pays), max(pays)),
        frozen=among((False, True)),
    )
    return AgentInterface(avatars.ACTIONS, True, observation)


@interface.register
def _(world: CollaborativeCooking, agent: str) -> AgentInterface:
    """The eight actions of avatars."""
    codes = cooking.SEES_PLAYER + 16 * len(world.agents)
    most = world.pay * len(world.agents)
    observation = record(
        window=numbers(avatars.OUTSIDE, codes - 1, *world.field.shape, kind=np.int16),
        cell=place(world.grid),
        facing=among(range(4)),
        hand=among(range(len(cooking.THINGS))),
        ready=among((False, True)),
        reward=one(most, most),
    )
    return AgentInterface(avatars.ACTIONS, True, observation)
