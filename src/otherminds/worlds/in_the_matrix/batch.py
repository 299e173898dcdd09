"""Many environments of a matrix world at once: the rules of `InTheMatrix`, compiled, some hundred times faster.

    batch = reset(in_the_matrix("rws_arena"), 1024, rng)
    windows = observe(batch)                        # (environments, players, rows, columns)
    step(batch, actions, rng, restart=True)         # actions: (environments, players)
    batch.states.rewards                            # (environments, players)

Needs Numba: `pip install "otherminds[fast]"`. The first call of a function compiles it, which takes some seconds.
All is done on the calling thread, without the GIL: threads can work on a batch each. One generator, one result: what
happens in an environment follows from the generator, the environment's number, and its own past.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from otherminds.errors import InputError
from otherminds.worlds.avatars import ACTIONS
from otherminds.worlds.in_the_matrix import step as matrix_step
from otherminds.worlds.in_the_matrix.arrays import (
    Int8,
    Int16,
    Layout,
    States,
    UInt64,
    blank_outcomes,
    blank_states,
    get_state,
    layout,
    put_outcome,
    put_state,
)
from otherminds.worlds.in_the_matrix.rules import FREE, NOWHERE, Outcome, Rules, State
from otherminds.worlds.in_the_matrix.world import InTheMatrix

Actions = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Batch:
    """Environments of one world. `states` has arrays with a row for each, which `step` changes in place."""

    world: InTheMatrix
    states: States
    layout: Layout

    def __len__(self) -> int:
        return len(self.states.t)


def pack(world: InTheMatrix, states: Sequence[State]) -> Batch:
    """An environment in each of these states. Raises InputError for a state that is none of this world."""
    batch = _blank(world, len(states))
    for i, state in enumerate(states):
        if not _fits(world.rules, state):
            raise InputError(f"state {i} is none of this world")
        put_state(batch.states, i, state)
    return batch


def unpack(batch: Batch, i: int) -> State:
    """The state of environment i.

    It is what was packed, only that `away` lists sites that went in the same step by their number. Nothing that can
    happen depends on the order of these.
    """
    return get_state(batch.states, i)


def reset(world: InTheMatrix, n: int, rng: np.random.Generator) -> Batch:
    """Draw s₀ of n environments. Raises InputError if Numba is not installed, as the functions below do."""
    kernels, batch = _kernels(), _blank(world, n)
    kernels.reset(batch.layout, batch.states, blank_outcomes(world.rules, 1), _dice(rng))
    return batch


def step(batch: Batch, actions: Actions, rng: np.random.Generator, *, restart: bool = False) -> None:
    """Draw s′ of every environment in place; `actions` are places in ACTIONS, for each environment and player.

    Where the episode had ended, `restart` makes this step begin another, whatever the actions. Without it nothing
    happens there any more, and nobody is paid. Raises InputError for anything that is no action.
    """
    chance = blank_outcomes(batch.world.rules, 1)
    _kernels().step(batch.layout, batch.states, _codes(batch, actions), chance, _dice(rng), restart)


def step_with(batch: Batch, actions: Actions, outcomes: Sequence[Outcome]) -> None:
    """s′ of every environment, ended or not, in place, if chance falls as given: one outcome each.

    Raises ValueError and changes nothing if it cannot fall so, and InputError for anything that is no action.
    """
    if len(outcomes) != len(batch):
        raise InputError(f"{len(outcomes)} outcomes for {len(batch)} environments")
    codes, rows = _codes(batch, actions), blank_outcomes(batch.world.rules, len(batch))
    for i, outcome in enumerate(outcomes):
        matrix_step.check(batch.world.rules, unpack(batch, i), outcome)
        put_outcome(rows, i, outcome)
    arrays: tuple[NDArray[Any], ...] = batch.states
    before = [array.copy() for array in arrays]
    _kernels().step_with(batch.layout, batch.states, codes, rows)
    if ((batch.states.cells == NOWHERE) & (batch.states.clocks == FREE)).any():
        for array, old in zip(arrays, before, strict=True):
            np.copyto(array, old)
        raise ValueError("somebody stands where a player is to return")


def observe(batch: Batch, out: Int16 | None = None) -> Int16:
    """What everybody sees: (environments, players, rows, columns) with the codes of `View.window`.

    The dead see OUTSIDE everywhere. The array is `out` if given. Raises InputError if that does not fit, and for a
    world in which somebody sees the whole map.
    """
    rules = batch.world.rules
    shape = (len(batch), rules.players, *rules.field.shape)
    if batch.world.all_seeing:
        raise InputError("a batch shows windows only", hint="make the world without `all_seeing`")
    out = np.empty(shape, dtype=np.int16) if out is None else out
    if out.shape != shape or out.dtype != np.int16 or not out.flags.c_contiguous:
        raise InputError(f"`out` is no contiguous array of shape {shape} and type int16")
    _kernels().observe(batch.layout, batch.states, batch.layout.ground.copy(), out)
    return out


def _kernels() -> ModuleType:
    try:
        from otherminds.worlds.in_the_matrix import kernels as matrix_kernels
    except ImportError as error:
        message = f"many environments at once need Numba: {error}"
        raise InputError(message, hint='pip install "otherminds[fast]"') from None
    return matrix_kernels


def _blank(world: InTheMatrix, n: int) -> Batch:
    return Batch(world, blank_states(world.rules, n), layout(world.rules))


def _dice(rng: np.random.Generator) -> UInt64:
    """What everything that chance decides in one call is derived from."""
    return rng.integers(2**64, size=1, dtype=np.uint64)


def _codes(batch: Batch, actions: Actions) -> Int8:
    shape = (len(batch), batch.world.rules.players)
    if actions.shape != shape or not np.issubdtype(actions.dtype, np.integer):
        raise InputError(f"the actions are no whole numbers in an array of shape {shape}")
    if actions.size and not 0 <= actions.min() <= actions.max() < len(ACTIONS):
        raise InputError(f"an action is not from 0 to {len(ACTIONS) - 1}")
    return np.ascontiguousarray(actions, dtype=np.int8)


def _fits(rules: Rules, state: State) -> bool:
    """Whether a state has the shape of this world's; compiled code does not look where it reads and writes."""
    counts = {len(state.cells), len(state.facings), len(state.inventories), len(state.clocks)}
    return (
        counts == {rules.players}
        and len(state.kinds) == len(state.damage) == len(rules.sites)
        and {len(inventory) for inventory in state.inventories} == {len(rules.resources)}
        and set(state.kinds) <= set(range(len(rules.resources)))
        and set(state.facings) <= set(range(4))
        and all(cell == NOWHERE or rules.field.grid.is_floor(cell) for cell in state.cells)
    )
