"""Many environments of a matrix world at once: the rules of `InTheMatrix`, compiled, some hundred times faster.

    batch = reset(in_the_matrix("rws_arena"), 1024, rng)
    windows = observe(batch)                        # (environments, players, rows, columns)
    step(batch, actions, rng, restart=True)         # actions: (environments, players)
    batch.states.rewards                            # (environments, players)

Needs Numba (the extra `fast`). Functions are compiled when they are first called on a machine, which
takes 8 s in all. All work is done on the calling thread without the GIL, so each thread can work on a batch of its own.
What happens in an environment follows from the generator, the environment's number and its own past, whatever else is
in the batch.
`vector_env` wraps a batch in Gymnasium's vector interface.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from otherminds.errors import InputError, install_hint
from otherminds.worlds.avatars import ACTIONS
from otherminds.worlds.in_the_matrix import arrays
from otherminds.worlds.in_the_matrix.rules import NOWHERE, MatrixState, Rules
from otherminds.worlds.in_the_matrix.world import InTheMatrix

Actions = NDArray[np.integer]
ALIKE = ("t", "cells", "facings", "inventories", "cooldowns", "clocks", "due", "kinds", "damage", "rewards", "ended")
"""Fields that states and their arrays hold in the same form."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Environments of one world. `states` has a row for each, which `step` changes in place."""

    world: InTheMatrix
    states: arrays.StateArrays
    rule_arrays: arrays.RuleArrays

    def __len__(self) -> int:
        return len(self.states.t)


def pack(world: InTheMatrix, states: Sequence[MatrixState]) -> Batch:
    """Environments in the given states. Raises InputError for a state that does not fit the world."""
    batch = _blank(world, len(states))
    rows = batch.states
    for i, state in enumerate(states):
        if not _fits(world.rules, state):
            raise InputError(f"state {i} does not fit this world")
        for name in ALIKE:
            getattr(rows, name)[i] = getattr(state, name)
        for site, since in state.away:
            rows.since[i, site] = since
        for player, meeting in enumerate(state.met):
            if meeting is not None:
                rows.met[i, player] = meeting
        for player, kinds in enumerate(state.destroyed):
            rows.destroyed[i, player, list(kinds)] = True
    return batch


def unpack(batch: Batch, i: int) -> MatrixState:
    """The state of environment i.

    Sites that were emptied in the same step are listed in `away` by number; no later event depends on their order.
    """
    states = batch.states
    since = states.since[i].tolist()
    meetings = states.met[i].tolist()
    return MatrixState(
        **{name: _nested_tuples(getattr(states, name)[i].tolist()) for name in ALIKE},
        shown=sum(1 << site for site, t in enumerate(since) if t == arrays.SHOWN),
        away=tuple(sorted(((site, t) for site, t in enumerate(since) if t != arrays.SHOWN), key=lambda gone: gone[1])),
        met=tuple((tuple(own), tuple(partner)) if any(own) else None for own, partner in meetings),
        destroyed=tuple(tuple(np.flatnonzero(kinds).tolist()) for kinds in states.destroyed[i]),
    )


def _nested_tuples(value: Any) -> Any:
    """Nested lists as nested tuples, numbers unchanged: the form of the fields of `MatrixState`."""
    return tuple(map(_nested_tuples, value)) if isinstance(value, list) else value


def reset(world: InTheMatrix, n: int, rng: np.random.Generator) -> Batch:
    """Draw s₀ of n environments. Raises InputError without Numba, as do `step` and `observe`."""
    batch = _blank(world, n)
    _kernels().reset(batch.rule_arrays, batch.states, arrays.blank_outcome(world.rules), _dice(rng))
    return batch


def step(batch: Batch, actions: Actions, rng: np.random.Generator, *, restart: bool = False) -> None:
    """Draw s′ of every environment in place. `actions` are indices into ACTIONS, of shape (environments, players).

    An ended episode stays as it is without rewards; with `restart`, this step starts the next episode instead and
    ignores the actions. Raises InputError for anything that is not an action.
    """
    chance = arrays.blank_outcome(batch.world.rules)
    _kernels().step(batch.rule_arrays, batch.states, _checked_actions(batch, actions), chance, _dice(rng), restart)


def observe(batch: Batch, out: arrays.Int16 | None = None) -> arrays.Int16:
    """All windows: (environments, players, rows, columns) with the codes of `MatrixView.window`.

    Dead players see OUTSIDE everywhere. The result is written to `out` if given. Raises InputError if that does not
    fit, and for a world with players that see the whole map.
    """
    rules = batch.world.rules
    shape = (len(batch), rules.players, *rules.field.shape)
    if batch.world.all_seeing:
        raise InputError("a batch shows windows only", hint="make the world without `all_seeing`")
    out = np.empty(shape, dtype=np.int16) if out is None else out
    if out.shape != shape or out.dtype != np.int16 or not out.flags.c_contiguous:
        raise InputError(f"`out` is not a contiguous array of shape {shape} and type int16")
    _kernels().observe(batch.rule_arrays, batch.states, batch.rule_arrays.ground.copy(), out)
    return out


def _kernels() -> ModuleType:
    """The module of compiled functions, imported when first needed. Raises InputError without Numba."""
    try:
        from otherminds.worlds.in_the_matrix import kernels
    except ImportError as error:
        message = f"many environments at once need Numba: {error}"
        raise InputError(message, hint=install_hint("fast")) from None
    return kernels


def _blank(world: InTheMatrix, n: int) -> Batch:
    return Batch(world, arrays.blank_states(world.rules, n), arrays.rule_arrays(world.rules))


def _dice(rng: np.random.Generator) -> arrays.UInt64:
    """The key from which the compiled code derives all random numbers of one call."""
    return rng.integers(2**64, size=1, dtype=np.uint64)


def _checked_actions(batch: Batch, actions: Actions) -> arrays.Int8:
    """The actions as int8, shape (environments, players). Raises InputError for another shape, type or range."""
    shape = (len(batch), batch.world.rules.players)
    if actions.shape != shape or not np.issubdtype(actions.dtype, np.integer):
        raise InputError(f"the actions are not an array of integers of shape {shape}")
    if actions.size and not 0 <= actions.min() <= actions.max() < len(ACTIONS):
        raise InputError(f"an action is not from 0 to {len(ACTIONS) - 1}")
    return np.ascontiguousarray(actions, dtype=np.int8)


def _fits(rules: Rules, state: MatrixState) -> bool:
    """Whether a state has the shapes and ranges of this world, which compiled code does not check."""
    counts = {len(state.cells), len(state.facings), len(state.inventories), len(state.clocks)}
    return (
        counts == {rules.players}
        and len(state.kinds) == len(state.damage) == len(rules.sites)
        and {len(inventory) for inventory in state.inventories} == {len(rules.resources)}
        and set(state.kinds) <= set(range(len(rules.resources)))
        and set(state.facings) <= set(range(4))
        and all(cell == NOWHERE or rules.field.grid.is_floor(cell) for cell in state.cells)
    )
