"""Doors-Keys-Gems problems and plans in PDDL, in the forms in which they have been published.

Walls are a bit matrix with y downwards, `(= (walls) (transpose (bit-mat (bit-vec 0 1) …)))`, or facts with y upwards,
`(wall 3 1)`. Things have places, `(= (xloc key1) 3)` or `(at key1 3 2)`. Agents are objects with turns (CLIPS), or the
only agent is at `(= (xpos) 1)` (Plinf). Where no colour is given, any key opens any door.

A plan has one `(action agent things)` a line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from otherminds.errors import InputError
from otherminds.files.text import read_text
from otherminds.world import Step
from otherminds.worlds.doors_keys_gems import pddl_syntax as syntax
from otherminds.worlds.doors_keys_gems.level_files import MAX_THINGS, Level
from otherminds.worlds.doors_keys_gems.pddl_syntax import Names, Node, PddlFact, Signatures, quote
from otherminds.worlds.doors_keys_gems.rules import NOTHING, STAY, Action, DoorsKeysGems, State, Thing, Turns
from otherminds.worlds.grid import DIRECTIONS, Grid
from otherminds.worlds.map_file import MAX_PLAYERS, MAX_SIDE

# Chosen for problems that name no agent and no colours.
AGENT = "agent"
GEM_COLOURS = ("red", "yellow", "blue", "green", "purple", "orange", "cyan", "magenta")
KEY_COLOUR = "brown"
UPWARDS = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0)}
SECTIONS = ("problem", ":domain", ":objects", ":init", ":goal")
TYPES = {kind: kind for kind in ("key", "gem", "door", "color", "direction", "agent")} | {
    "human": "agent",
    "robot": "agent",
}
MATRICES = ("= walls transpose", "= walls bit-mat")
MATRIX = "`(= (walls) (transpose (bit-mat (bit-vec 0 1 0) …)))`, a bit-vec for each row from the top"

# A signature lists the kinds of the arguments; a word that is not a kind stands for itself. Colours may be
# any name, because the published problems do not declare a colour that only keys have.
FACTS: Signatures = {
    "= walls new-bit-matrix": ("false integer integer",),
    "= walls set-index": ("walls bit integer integer",),
    **dict.fromkeys(("= xloc", "= yloc"), ("thing integer",)),
    **dict.fromkeys(("= xpos", "= ypos"), ("integer", "agent integer")),
    "iscolor": ("thing name",),
    "locked": ("door",),
    "active": ("agent",),
    "next-turn": ("agent agent",),
    "= agentcode": ("agent integer",),
    "= turn": ("integer",),
    "forbidden": ("agent item",),
    **dict.fromkeys(("= width", "= height"), ("integer",)),
    **dict.fromkeys(("= xdiff", "= ydiff"), ("direction integer",)),
    **dict.fromkeys(("wall", "door", "doorloc", "itemloc", "loc"), ("integer integer",)),
    "at": ("item integer integer",),
}
GOALS: Signatures = {"has": ("agent gem", "gem")}


class _Spot(NamedTuple):
    """A cell in the coordinates of `Grid`, and its place in the file."""

    x: int
    y: int
    at: Node


class _Walls(NamedTuple):
    """The size of a map, its walls, and whether y grows upwards in the file."""

    width: int
    height: int
    spots: Sequence[_Spot]
    upwards: bool

    def spot(self, at: Node, x: int, y: int) -> _Spot:
        """The cell at coordinates of the file, which count from 1."""
        return _Spot(x - 1, self.height - y if self.upwards else y - 1, at)


class _Problem(NamedTuple):
    """The sections of a problem, checked against the signatures."""

    names: Names
    facts: Sequence[PddlFact]
    goals: Sequence[PddlFact]
    init: Node

    def all(self, *fact_names: str) -> list[PddlFact]:
        """The facts of these names."""
        return [fact for fact in self.facts if fact.name in fact_names]

    def the(self, name: str, *about: str) -> PddlFact:
        """The only fact of that name about these words. Raises InputError if it is missing or given twice."""
        facts = [fact for fact in self.all(name) if fact.words[: len(about)] == about]
        phrase = " ".join((name, *about))
        if not facts:
            kinds = max(FACTS[name], key=len) if about else FACTS[name][0]
            raise self.init.wrong(f"lacks `{phrase}`", f"`{syntax.example(name, kinds.split(), self.names, about)}`")
        if len(facts) > 1:
            raise facts[1].at.wrong(f"`{phrase}` is given twice")
        return facts[0]


def read_problem(path: Path, *, forbidden: bool = True) -> Level:
    """Read a PDDL problem, with or without its `forbidden` facts. Raises InputError at the first error."""
    return parse_problem(read_text(path), path, forbidden=forbidden)


def parse_problem(text: str, path: Path, *, forbidden: bool = True) -> Level:
    """Read a PDDL problem from text; errors name `path`. Raises InputError like `read_problem`."""
    sections = _sections(text, path)
    init, goal = sections[":init"], sections[":goal"]
    _check_game(init)
    names = _objects(sections[":objects"])
    if len(goal.items) != 2:
        raise goal.wrong("a goal is one list", "e.g. `(has human gem1)`")
    goal_node = goal.items[1]
    goal_nodes = {"and": goal_node.items[1:], "true": ()}.get(goal_node.head(), (goal_node,))
    facts = _facts(init, names)
    goals = [syntax.read_fact(node, GOALS, names) for node in goal_nodes]
    problem = _Problem(names, [fact for fact in facts if forbidden or fact.name != "forbidden"], goals, init)
    return Level(path.stem, _world(problem))


def _sections(text: str, path: Path) -> dict[str, Node]:
    """The five SECTIONS of a problem by name, such as `:init`. Raises InputError if one is missing or repeated."""
    nodes = syntax.read_nodes(text, path)
    if not nodes or nodes[0].head() != "define":
        raise InputError("does not begin with `(define`", path=path, line=1)
    if len(nodes) > 1:
        raise nodes[1].wrong("something follows the end of the problem")
    sections: dict[str, Node] = {}
    for node in nodes[0].items[1:]:
        name = node.head()
        if name not in SECTIONS:
            raise node.wrong(f"unknown {quote(name)}", f"one of {', '.join(SECTIONS)}")
        if name in sections:
            raise node.wrong(f"`{name}` is given twice")
        sections[name] = node
    for name in SECTIONS:
        if name not in sections:
            raise nodes[0].wrong(f"lacks `({name} …)`")
    return sections


def _check_game(init: Node) -> None:
    """Raises InputError if the first fact is not one of Doors-Keys-Gems."""
    hint = "this reads Doors-Keys-Gems problems"
    if len(init.items) == 1:
        raise init.wrong("nothing is said about the start", hint)
    name = syntax.flat(init.items[1])[0]
    if name not in (*FACTS, *MATRICES, "not"):
        raise init.items[1].wrong(f"unknown {quote(name)}", hint)


def _facts(init: Node, names: Names) -> list[PddlFact]:
    """The facts but for the bit matrices. Raises InputError for one that is unknown, or both given and denied."""
    signatures = {name: choices for name, choices in FACTS.items() if not name.startswith("=")}
    nodes = [node for node in init.items[1:] if syntax.flat(node)[0] not in MATRICES]
    denials = [node for node in nodes if node.head() == "not"]
    denied = {syntax.read_fact(part, signatures, names)[:3] for node in denials for part in node.items[1:]}
    facts = [syntax.read_fact(node, FACTS, names) for node in nodes if node.head() != "not"]
    for fact in facts:
        if fact[:3] in denied:
            raise fact.at.wrong(f"`{' '.join((fact.name, *fact.words))}` is both given and denied")
    return facts


def _objects(section: Node) -> Names:
    """The names of objects by kind, from `key1 key2 - key …`; `item` are keys and gems, `thing` all with a place."""
    names: dict[str, list[str]] = {kind: [] for kind in TYPES.values()}
    declared = set[str]()
    untyped: list[Node] = []
    nodes = iter(section.items[1:])
    for node in nodes:
        if node.text != "-":
            untyped.append(node)
            continue
        type_node = next(nodes, node)
        if type_node.word not in TYPES:
            raise type_node.wrong(f"unknown type {quote(type_node.text)}", f"one of {', '.join(TYPES)}")
        kind = TYPES[type_node.word]
        for object_node in untyped:
            name = syntax.read_name(object_node)
            if name.lower() in declared:
                raise object_node.wrong(f"{quote(name)} is declared twice")
            if len(names[kind]) == (MAX_PLAYERS if kind == "agent" else MAX_THINGS):
                raise object_node.wrong(f"more than {len(names[kind])} objects of type {kind}")
            declared.add(name.lower())
            names[kind].append(name)
        untyped = []
    if untyped:
        raise untyped[0].wrong(f"{quote(untyped[0].text)} has no type", "e.g. `key1 key2 - key`")
    items = names["key"] + names["gem"]
    if not names["agent"]:
        if AGENT in declared:
            raise section.wrong(f"only an agent can be called `{AGENT}`")
        names["agent"] = [AGENT]
    return names | {"item": items, "thing": items + names["door"] + names["agent"], "bit": ["false", "true"]}


def _walls(problem: _Problem) -> _Walls:
    """The size and the walls of a map. Raises InputError if they are missing, given twice, or of uneven length."""
    matrices = [node for node in problem.init.items[1:] if syntax.flat(node)[0] in MATRICES]
    empty = problem.all("= walls new-bit-matrix")
    if len(bases := [*matrices, *(fact.at for fact in empty)]) > 1:
        raise max(bases, key=lambda node: (node.line, node.column)).wrong("`= walls` is given twice")
    spots = dict[tuple[int, int], _Spot]()
    if matrices:
        rows = _rows(matrices[0])
        height, width = len(rows), len(rows[0])
        wall_cells = [(x, y) for y, row in enumerate(rows) for x, bit in enumerate(row) if bit]
        spots = {(x, y): _Spot(x, y, matrices[0]) for x, y in wall_cells}
    elif empty:
        height, width = empty[0].numbers
    elif not problem.all("= width", "= height", "wall"):
        raise problem.init.wrong("lacks the walls", MATRIX)
    else:
        (width,), (height,) = problem.the("= width").numbers, problem.the("= height").numbers
    walls = _Walls(width, height, [], upwards=not (matrices or empty))
    for fact in problem.all("wall", "= walls set-index"):
        x, y = fact.numbers if fact.name == "wall" else fact.numbers[::-1]
        spot = walls.spot(fact.at, x, y)
        if "false" in fact.words:
            spots.pop(spot[:2], None)
        else:
            spots[spot[:2]] = spot
    return walls._replace(spots=list(spots.values()))


def _rows(node: Node) -> list[tuple[bool, ...]]:
    """The rows of a bit matrix, whose vectors are columns unless it is transposed."""
    name, arguments = syntax.flat(node)
    transposed = name == MATRICES[0]
    if transposed:
        if len(arguments) != 1 or arguments[0].head() != "bit-mat":
            raise node.wrong("`transpose` needs one `(bit-mat …)`", MATRIX)
        arguments = arguments[0].items[1:]
    vectors = [tuple(_bit(bit) for bit in vector.items[1:]) for vector in arguments if vector.head() == "bit-vec"]
    if len(vectors) < len(arguments) or not vectors or not vectors[0]:
        raise node.wrong("a bit matrix needs a `(bit-vec …)` for each row", MATRIX)
    for vector, bits in zip(arguments, vectors, strict=True):
        if len(bits) != len(vectors[0]):
            raise vector.wrong(f"{len(bits)} bits here, {len(vectors[0])} in the first `bit-vec`")
    return vectors if transposed else list(zip(*vectors, strict=True))


def _bit(node: Node) -> bool:
    """Whether a bit is set. Raises InputError for anything but 0, 1, false and true."""
    bits = {"0": False, "1": True, "false": False, "true": True}
    if node.word not in bits:
        raise node.wrong(f"{quote(node.text)} is no bit", "0 for floor, 1 for a wall")
    return bits[node.word]


def _places(problem: _Problem, walls: _Walls) -> dict[str, _Spot]:
    """The cell of every item, door and agent by name.

    Doors without a name become door1, door2 … in reading order.
    """
    spots, at_facts = {}, problem.all("at") or not problem.all("= xloc")
    for name in problem.names["thing"]:
        suffix, about = "loc", [name]
        if name in problem.names["agent"] and (positions := problem.all("= xpos", "= ypos")):
            suffix, about = "pos", [*positions[0].words] if len(problem.names["agent"]) == 1 else about
        if at_facts and name in problem.names["item"]:
            spot = problem.the("at", name)
            spots[name] = walls.spot(spot.at, *spot.numbers)
        else:
            x, y = problem.the(f"= x{suffix}", *about), problem.the(f"= y{suffix}", *about)
            spots[name] = walls.spot(x.at, *x.numbers, *y.numbers)
    holes = [walls.spot(fact.at, *fact.numbers) for fact in problem.all("door")]
    for n, hole in enumerate(sorted(holes, key=lambda hole: (hole.y, hole.x)), 1):
        if f"door{n}" in spots:
            raise spots[f"door{n}"].at.wrong(f"an item cannot be called `door{n}` here")
        spots[f"door{n}"] = hole
    return spots


def _turns(problem: _Problem) -> tuple[tuple[str, ...], Turns]:
    """The agents in their order, and who acts at a step: the next one where the problem has turns, or everybody."""
    agents = list(problem.names["agent"])
    if len(agents) > 1 and problem.all("= agentcode", "= turn"):
        codes = {agent: problem.the("= agentcode", agent).numbers[0] for agent in agents}
        turn = problem.the("= turn").numbers[0]
        return tuple(sorted(agents, key=lambda agent: (codes[agent] < turn, codes[agent]))), "alternating"
    if len(agents) == 1 or not problem.all("active", "next-turn"):
        return tuple(agents), "simultaneous"
    active = problem.the("active")
    order = [active.words[0]]
    for _ in agents:
        order.append(problem.the("next-turn", order[-1]).words[1])
    if order.pop() != order[0] or len(set(order)) < len(order):
        raise active.at.wrong("`next-turn` does not go round all the agents")
    return tuple(order), "alternating"


def _colours(problem: _Problem, doors: Sequence[str]) -> dict[str, str]:
    """The colour of every key, gem and door. Raises InputError for a key or door without, if another has one."""
    names = problem.names
    coloured = dict.fromkeys(fact.words[0] for fact in problem.all("iscolor"))
    colours = {name: problem.the("iscolor", name).words[1] for name in coloured}
    locks = (*names["key"], *doors)
    if coloured.keys() & {*names["key"], *names["door"]}:
        colours |= {name: problem.the("iscolor", name).words[1] for name in locks}
    plain_gems = [gem for gem in names["gem"] if gem not in colours]
    unused_colours = [colour for colour in GEM_COLOURS if colour not in {colours.get(gem) for gem in names["gem"]}]
    if len(plain_gems) > len(unused_colours):
        hint = f"`(iscolor {plain_gems[-1]} pink)`"
        raise problem.init.wrong(f"more than {len(GEM_COLOURS)} gems without a colour", hint)
    return dict.fromkeys(locks, KEY_COLOUR) | colours | dict(zip(plain_gems, unused_colours, strict=False))


def _check_directions(problem: _Problem, upwards: bool) -> None:
    """Raises InputError for a direction that points elsewhere than y of this problem says."""
    example = "upwards: `(= (ydiff up) 1)`" if upwards else "downwards: `(= (ydiff up) -1)`"
    for axis, name in enumerate(("= xdiff", "= ydiff")):
        sign = -1 if axis and not upwards else 1
        for fact in problem.all(name):
            steps = UPWARDS.get(fact.words[0].lower())
            if steps is None or sign * steps[axis] != fact.numbers[0]:
                raise fact.at.wrong(f"`{fact.words[0]}` points elsewhere", f"y grows {example}")


def _cells(grid: Grid, spots: Mapping[str, _Spot], agents: Sequence[str], doors: Sequence[str]) -> dict[str, int]:
    """The cells of all things. Raises InputError for things in walls, and for doors on agents or other doors."""
    cells = {name: grid.cell(spot.x, spot.y) for name, spot in spots.items()}
    for name, cell in cells.items():
        if not grid.is_floor(cell):
            raise spots[name].at.wrong(f"{name} is in a wall")
    taken = {cells[agent] for agent in agents}
    for door in doors:
        if cells[door] in taken:
            raise spots[door].at.wrong(f"{door} is on the cell of an agent or of another door")
        taken.add(cells[door])
    return cells


def _world(problem: _Problem) -> DoorsKeysGems:
    """The world of a problem. Raises InputError for things outside the grid, in walls or on agents."""
    names, walls = problem.names, _walls(problem)
    width, height = walls.width, walls.height
    if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE):
        raise problem.init.wrong(f"a grid of {width} × {height}", f"sides are 1 to {MAX_SIDE} long")
    _check_directions(problem, walls.upwards)
    (agents, turns), spots = _turns(problem), _places(problem, walls)
    locked = {fact.words[0] for fact in problem.all("locked")}
    doors = [name for name in spots if name in locked or name not in names["thing"]]  # one not locked is floor
    if len(doors) > MAX_THINGS:
        raise problem.init.wrong(f"more than {MAX_THINGS} doors")
    for name, spot in (*(("this wall", wall) for wall in walls.spots), *spots.items()):
        if not (0 <= spot.x < width and 0 <= spot.y < height):
            raise spot.at.wrong(f"{name} is outside the grid of {width} × {height}")
    grid = Grid.of(width, height, ((wall.x, wall.y) for wall in walls.spots))
    cells, colours = _cells(grid, spots, agents, doors), _colours(problem, doors)

    def things(thing_names: Sequence[str]) -> tuple[Thing, ...]:
        return tuple(Thing(name, colours[name], cells[name]) for name in thing_names)

    forbidden = (fact.words for fact in problem.all("forbidden"))
    return DoorsKeysGems(
        grid=grid,
        agents=agents,
        cells=tuple(cells[agent] for agent in agents),
        keys=things(names["key"]),
        doors=things(doors),
        gems=things(names["gem"]),
        goals=_goals(problem, agents),
        turns=turns,
        forbidden=frozenset((agents.index(agent), names["item"].index(item)) for agent, item in forbidden),
    )


def _goals(problem: _Problem, agents: tuple[str, ...]) -> tuple[int, ...]:
    """For each agent the index of the gem it is to have, or NOTHING. Raises InputError for a second goal."""
    goals = [NOTHING] * len(agents)
    for fact in problem.goals:
        *agent_words, gem = fact.words
        i = agents.index(agent_words[0]) if agent_words else 0
        gem_index = problem.names["gem"].index(gem)
        if goals[i] != NOTHING or gem_index in goals:
            raise fact.at.wrong("a second goal for the same agent, or for the same gem")
        goals[i] = gem_index
    return tuple(goals)


PLAN: Signatures = {
    **dict.fromkeys((*DIRECTIONS, "wait", "noop"), ("agent", "")),
    "pickup": ("agent item", "item"),
    "unlock": ("agent key door", "key way"),
    "handover": ("agent agent item",),
}
WORDS = {
    "wait": "stay",
    "noop": "stay",
    "pickup": "pickup {0}",
    "unlock": "unlock {1} with {0}",
    "handover": "handover {1} to {0}",
}


class PlanStep(NamedTuple):
    """One line of a plan: the index of the agent, its action, and the number of the line."""

    agent: int
    action: Action
    line: int


def read_plan(path: Path, world: DoorsKeysGems, *, start: State | None = None) -> list[PlanStep]:
    """Read a plan that begins in `start` (default: s₀), from where doors are named by direction.

    Raises InputError with the place of the first error.
    """
    alone = len(world.agents) == 1
    signatures = PLAN if alone else {name: choices[:1] for name, choices in PLAN.items()}
    keys, gems, doors = ([thing.name for thing in kind] for kind in (world.keys, world.gems, world.doors))
    names = {"agent": world.agents, "key": keys, "item": keys + gems, "door": doors}
    names["way"] = [*doors, *DIRECTIONS]  # to a door, which has no name in some forms
    cells = list((world.initial if start is None else start).cells)
    moves = []
    for node in syntax.read_nodes(read_text(path), path):
        fact = syntax.read_fact(node, signatures, names)
        names_agent = len(fact.words) == len(PLAN[fact.name][0].split())
        agent, *words = fact.words if names_agent else (*world.agents, *fact.words)
        i = world.agents.index(agent)
        direction = fact.words[-1] if fact.words else ""
        if fact.name == "unlock" and direction not in doors:
            door = world.door_at.get(cells[i] + world.grid.offsets[direction])
            if door is None:
                raise node.wrong(f"there is no door {direction} of the agent at this point")
            words[1] = world.doors[door].name
        action = world.vocabulary[WORDS.get(fact.name, fact.name).format(*words)]
        cells[i] += world.grid.offsets.get(action.verb, 0)
        moves.append(PlanStep(i, action, node.line))
    return moves


def follow_plan(
    world: DoorsKeysGems, plan: Sequence[PlanStep], path: Path, *, start: State | None = None
) -> tuple[Step[State, Action], ...]:
    """The steps of a plan from `start` (default: s₀), one for each line. Raises InputError at the first illegal one."""
    state = world.initial if start is None else start
    steps = []
    for i, action, line in plan:
        name = world.agents[i]
        if i not in world.movers(state):
            message = f"it is not the turn of {name} but of {world.agents[state.turn]}"
            raise InputError(message, path=path, line=line)
        if action not in world.options(state, i):
            hint = f"allowed: {', '.join(world.spell(option) for option in world.actions(state, name))}"
            raise InputError(f"{name} cannot do `{world.spell(action)}` here", path=path, line=line, hint=hint)
        joint = dict.fromkeys(world.agents, STAY) | {name: action}
        after = world.step(state, joint)
        steps.append(Step(state, joint, after))
        state = after
    return tuple(steps)
