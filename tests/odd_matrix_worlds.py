"""Small odd matrix worlds, and states of any as they may come about: shared by tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from otherminds.worlds.avatars import ACTIONS
from otherminds.worlds.grid import Grid
from otherminds.worlds.in_the_matrix import rules as matrix_rules
from otherminds.worlds.in_the_matrix.arrays import Int8
from otherminds.worlds.in_the_matrix.map_files import parse_matrix_world
from otherminds.worlds.in_the_matrix.rules import FREE, NOWHERE, MatrixState, Meeting
from otherminds.worlds.in_the_matrix.world import InTheMatrix
from otherminds.worlds.map_file import reached

OFTEN = np.array([0.05, 0.25, 0.05, 0.1, 0.1, 0.1, 0.1, 0.25])
Ints = NDArray[np.int64]
ODD = """\
WWWWWWW
WnaxPyW
Wa WPnW
nxy  aW
 WWaWWW

players: 3
kinds: x left, y right
payoffs: 1 -2.5, 0.1 3
column payoffs: 0.1 1, -7 0.3
window: 1 2 3 0
regrowth: 2 0.3
frozen: 2
respawn: 5
restock: yes
ends: 6 3 0.4 20
"""


def odd(**changes: str) -> InTheMatrix:
    lines = [changes.get(line.split(":")[0].replace(" ", "_"), line) for line in ODD.splitlines()]
    return parse_matrix_world("\n".join(lines), Path("odd.txt"))


def tidy(state: MatrixState) -> MatrixState:
    """The state with sites that went in the same step in the order of their numbers."""
    return state._replace(away=tuple(sorted(state.away, key=lambda gone: gone[::-1])))


def reachable(rows: list[str]) -> list[str]:
    """The rows with walls for whatever nobody can get to, as a map with resources there is refused."""
    places = {(x, y): letter for y, row in enumerate(rows) for x, letter in enumerate(row)}
    grid = Grid.of(len(rows[0]), len(rows), [at for at, letter in places.items() if letter == "W"])
    there = reached(grid, [grid.cell(*at) for at, letter in places.items() if letter == "n"])
    return ["".join(c if grid.cell(x, y) in there else "W" for x, c in enumerate(row)) for y, row in enumerate(rows)]


@st.composite
def worlds(draw: st.DrawFn) -> InTheMatrix:
    """A small world at random: any walls, also none around; everything else is odd, too."""
    width, height = draw(st.integers(2, 6)), draw(st.integers(2, 6))
    letters = draw(st.lists(st.sampled_from("WWna  xyn"), min_size=width * height, max_size=width * height))
    letters[::width] = [letter.replace(" ", "n") for letter in letters[::width]]  # an empty line ends the map
    letters[:2] = "nx"
    rows = reachable(["".join(letters[k : k + width]) for k in range(0, width * height, width)])
    players = draw(st.integers(1, min(4, letters.count("n"))))
    numbers = st.lists(st.sampled_from(["0", "-1", "0.1", "0.3", "7"]), min_size=2, max_size=2).map(" ".join)
    reach = " ".join(str(draw(st.integers(0, 4))) for _ in range(4))
    said = [
        f"players: {players}",
        "kinds: x left, y right",
        f"payoffs: {draw(numbers)}, {draw(numbers)}",
        f"column payoffs: {draw(numbers)}, {draw(numbers)}",
        f"window: {reach}",
        f"regrowth: {draw(st.integers(0, 3))} 0.4",
        f"frozen: {draw(st.integers(1, 3))}",
        f"respawn: {draw(st.integers(5, 7))}",
        f"restock: {draw(st.sampled_from(['yes', 'no']))}",
        "ends: 6 3 0.4 20",
    ]
    return parse_matrix_world("\n".join([*rows, "", *said]), Path("random.txt"))


def any_state(world: InTheMatrix, rng: np.random.Generator) -> MatrixState:
    """A state as it may come about, with all players close to each other and much going on."""
    rules, n = world.rules, world.rules.players
    floor = np.array(list(rules.field.grid.cells()), dtype=np.int64)
    sites = range(len(rules.sites))
    y, x = np.divmod(floor - rng.choice(floor), rules.field.grid.stride)
    near: Ints = floor[np.argsort(x**2 + y**2)][: n + 6]
    clocks = np.where(rng.random(n) < 0.6, FREE, rng.integers(rules.respawn, size=n))
    if rng.random() < 0.15:
        clocks = rng.integers(rules.frozen + 1, rules.respawn, size=n)
    cells = np.where(clocks > rules.frozen, NOWHERE, rng.choice(near, size=n, replace=False))
    t = (int(rng.integers(1, 60)), rules.ends.after + rules.ends.every - 2, rules.ends.limit - 1)[rng.integers(3)]
    away = tuple((site, int(rng.integers(max(1, t - 30), t + 1))) for site in sites if rng.random() < 0.4)
    held = rng.integers(1, 4, size=(n, len(rules.resources)))
    held[rng.random(n) < 0.2] = 1
    inventories = tuple(map(tuple, held.tolist()))
    met: list[Meeting | None] = [(inventories[0], inventories[-1]) if rng.random() < 0.5 else None for _ in range(n)]
    return matrix_rules.opening(rules, rng)._replace(
        t=t,
        cells=tuple(cells.tolist()),
        inventories=inventories,
        cooldowns=tuple(rng.choice([0, 0, 1, 2], size=n).tolist()),
        clocks=tuple(clocks.tolist()),
        due=tuple(np.where(clocks == FREE, 0.0, rng.random(n)).tolist()),
        shown=sum(1 << site for site in sites if site not in dict(away)),
        away=tuple(sorted(away, key=lambda gone: gone[::-1])),
        damage=tuple(rng.integers(3, size=len(sites)).tolist()),
        rewards=tuple(rng.random(n).tolist()),
        met=tuple(met),
        destroyed=tuple(tuple(kind for kind in (0, 1) if rng.random() < 0.3) for _ in range(n)),
    )


def joint(n: int, players: int, rng: np.random.Generator) -> Int8:
    return rng.choice(len(ACTIONS), size=(n, players), p=OFTEN).astype(np.int8)


def start_of(world: InTheMatrix) -> MatrixState:
    return world.start(np.random.default_rng(0))
