"""Maps of matrix worlds as text files: a map, an empty line, and lines of `key: value`.

    WWWWWWWWW     one character a cell: `W` wall, space floor, `n` or `P` floor where players start and return,
    Wn r  a W     `a` a resource whose kind is drawn for each episode, and a letter for each kind
    W  p   nW
    WWWWWWWWW

    players: 2                              or `agents: Ana, Ben`
    kinds: r rock, p paper, s scissors      the letter of each kind of resource, and its name
    payoffs: 0 -10 10, 10 0 -10, -10 10 0   rows of A, the row player's payoffs
    column payoffs: …                       rows of B, the column player's; the transpose of A if missing
    window: 2 2 3 1                         cells that a player sees to the left, to the right, forward, backward
    regrowth: 15 0.02                       steps before an emptied site can regrow, and the probability per step then
    frozen: 16                              steps that players stand still after an interaction, before they die
    respawn: 23                             steps from an interaction to the players' return
    restock: yes                            whether everything regrows while all are dead
    ends: 1000 100 0.2 5000                 from this step on, every so many, with this probability; the limit

`source` may say where the map comes from. Lines that begin with `;` are comments.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from otherminds.errors import unknown
from otherminds.files.text import read_text
from otherminds.worlds import map_file
from otherminds.worlds.avatars import Field
from otherminds.worlds.grid import Grid
from otherminds.worlds.in_the_matrix.rules import Ends, Rules
from otherminds.worlds.in_the_matrix.world import InTheMatrix
from otherminds.worlds.map_file import FileLine, MapFile

SUBSTRATES = ("rws_repeated", "rws_arena", "pd_repeated")
Payoffs = tuple[tuple[float, ...], ...]
WALL, FLOOR, STARTS, ANY = "W", " ", "nP", "a"
EXAMPLES = {
    "players": "players: 2",
    "agents": "agents: Ana, Ben",
    "kinds": "kinds: c cooperate, d defect",
    "payoffs": "payoffs: 3 0, 5 1",
    "column payoffs": "column payoffs: 3 5, 0 1",
    "window": "window: 2 2 3 1",
    "regrowth": "regrowth: 10 0.02",
    "frozen": "frozen: 16",
    "respawn": "respawn: 23",
    "restock": "restock: yes",
    "ends": "ends: 1000 100 0.1 5000",
    "source": "source: drawn by Ana",
}
REQUIRED = ("kinds", "payoffs", "window", "regrowth", "frozen", "respawn", "restock", "ends")


def read_matrix_world(path: Path) -> InTheMatrix:
    """Read a map file. Raises InputError with the line and column of the first error."""
    return parse_matrix_world(read_text(path), path)


@cache
def in_the_matrix(substrate: str) -> InTheMatrix:
    """One of Melting Pot's SUBSTRATES: running with scissors (repeated, arena) or the prisoner's dilemma (repeated).

    Raises InputError for another name.
    """
    if substrate not in SUBSTRATES:
        raise unknown("matrix world", substrate, SUBSTRATES)
    return parse_matrix_world(*map_file.bundled_text("in_the_matrix", "substrates", f"{substrate}.txt"))


def parse_matrix_world(text: str, path: Path) -> InTheMatrix:
    """Read a world from text; errors name `path`. Raises InputError if it is not a valid matrix world."""
    plan = map_file.read_map(text, path, EXAMPLES, REQUIRED)
    settings = plan.settings
    kinds = _kinds(settings["kinds"])
    map_file.check_characters(plan.rows, [WALL, FLOOR, *STARTS, ANY, *kinds])
    agents = map_file.players_of(plan, STARTS)
    rows = [row.text for row in plan.rows]
    grid = Grid.of_map(rows, (FLOOR, *STARTS, ANY, *kinds))
    spawns = grid.marked(rows, STARTS)
    sites = _sites(plan, grid, spawns, [ANY, *kinds])
    letters = [rows[y][x] for x, y in map(grid.xy, sites)]
    mine = _payoffs(settings["payoffs"], "payoffs", len(kinds))
    column = settings.get("column payoffs")
    theirs = _payoffs(column, "column payoffs", len(kinds)) if column else tuple(zip(*mine, strict=True))
    delay, rate = _words(settings["regrowth"], "regrowth", 2)
    if settings["restock"].text not in ("yes", "no"):
        raise settings["restock"].wrong("`restock` is neither yes nor no")
    frozen = map_file.whole(settings["frozen"], "frozen", least=1)
    rules = Rules(
        field=Field(grid, map_file.reach_of(settings["window"])),
        players=len(agents),
        resources=tuple(kinds.values()),
        payoffs=(mine, theirs),
        spawns=spawns,
        sites=sites,
        fixed=tuple(None if letter == ANY else list(kinds).index(letter) for letter in letters),
        delay=map_file.whole(settings["regrowth"]._replace(text=delay), "regrowth"),
        rate=map_file.number(rate, "regrowth", settings["regrowth"], least=0, most=1),
        frozen=frozen,
        respawn=map_file.whole(settings["respawn"], "respawn", least=frozen + 2),
        restock=settings["restock"].text == "yes",
        ends=_ends(settings["ends"]),
    )
    return InTheMatrix(rules, agents)


def _sites(plan: MapFile, grid: Grid, spawns: tuple[int, ...], letters: list[str]) -> tuple[int, ...]:
    """The cells of resources. Raises InputError if there are none, or for an unreachable one."""
    reachable, sites = map_file.reached(grid, spawns), grid.marked([row.text for row in plan.rows], letters)
    if unreachable := [cell for cell in sites if cell not in reachable]:
        x, y = grid.xy(unreachable[0])
        hint = "floor must lead to it from a start"
        raise plan.rows[y].wrong(f"no player can reach this resource `{plan.rows[y].text[x]}`", hint, x + 1)
    if not sites:
        raise plan.rows[-1].wrong("the map has no resources", f"one of {' '.join(letters)} for each")
    return sites


def _kinds(line: FileLine) -> dict[str, str]:
    """The names of kinds by letter."""
    pairs = [part.split() for part in line.text.split(",")]
    for pair in pairs:
        if len(pair) != 2 or not re.fullmatch(r"\w", pair[0]) or not re.fullmatch(r"[^\W\d]\w{0,23}", pair[1]):
            hint = f"a letter or digit and a name for each, such as `{EXAMPLES['kinds']}`"
            raise line.wrong(f"`{' '.join(pair)}` is not a kind", hint)
        if pair[0] in (WALL, ANY, *STARTS):
            raise line.wrong(f"`{pair[0]}` means something else on maps")
    kinds = {pair[0]: pair[1] for pair in pairs}
    if len(kinds) < len(pairs) or len(set(kinds.values())) < len(pairs) or not 2 <= len(kinds) <= 9:
        raise line.wrong("kinds need two to nine different letters and names")
    return kinds


def _payoffs(line: FileLine, key: str, kinds: int) -> Payoffs:
    """A matrix from `3 0, 5 1`: rows after commas, `kinds` numbers each. Raises InputError for another shape."""
    rows = [row.split() for row in line.text.split(",")]
    if [len(row) for row in rows] != [kinds] * kinds:
        raise line.wrong(f"`{key}` is not {kinds} rows of {kinds}", f"rows after commas, such as `{EXAMPLES[key]}`")
    return tuple(tuple(map_file.number(text, key, line) for text in row) for row in rows)


def _ends(line: FileLine) -> Ends:
    """`after every chance limit`, such as `1000 100 0.1 5000`. Raises InputError for anything else."""
    after, every, chance, limit = _words(line, "ends", 4)
    counts = [map_file.whole(line._replace(text=word), "ends", least=1) for word in (after, every, limit)]
    return Ends(counts[0], counts[1], map_file.number(chance, "ends", line, least=0, most=1), counts[2])


def _words(line: FileLine, key: str, count: int) -> list[str]:
    """The `count` words of a line, not yet read as numbers. Raises InputError for another count."""
    words = line.text.split()
    if len(words) != count:
        raise line.wrong(f"`{key}` is not {count} numbers", f"`{EXAMPLES[key]}`")
    return words
