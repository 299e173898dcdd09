"""Doors-Keys-Gems problems and plans in PDDL, in the two dialects in which they have been published.

A plan has one `(action agent things)` a line.

Several agents (CLIPS): a bit matrix of walls, `(= (xloc key1) 3)`, y downwards, colours, agents take turns.
One agent (Plinf): `(wall 3 1)`, `(at key1 3 2)`, `(= (xpos) 1)`, y upwards, and any key opens any door.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
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
from otherminds.worlds.map_file import MAX_SIDE

# Chosen for the dialect that names no agent and no colours.
AGENT = "agent"
GEM_COLOURS = ("red", "yellow", "blue", "green", "purple", "orange", "cyan", "magenta")
KEY_COLOUR = "brown"
UPWARDS = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0)}
SECTIONS = ("problem", ":domain", ":objects", ":init", ":goal")


class _Dialect(NamedTuple):
    """The types of objects, the most objects of a type, and the signatures of facts and goals."""

    types: Mapping[str, str]
    limits: Mapping[str, int]
    facts: Signatures
    goals: Signatures


# A signature lists the kinds of the arguments; a word that is not a kind stands for itself. Colours may be
# any name, because the published problems do not declare a colour that only keys have.
CLIPS = _Dialect(
    types={"key": "key", "gem": "gem", "door": "door", "color": "color"}
    | dict.fromkeys(("agent", "human", "robot"), "agent"),
    limits={"agent": 9},
    facts={
        "= walls new-bit-matrix": ("false integer integer",),
        "= walls set-index": ("walls true integer integer",),
        **dict.fromkeys(("= xloc", "= yloc"), ("thing integer",)),
        "iscolor": ("thing name",),
        "locked": ("door",),
        "active": ("agent",),
        "next-turn": ("agent agent",),
        "forbidden": ("agent item",),
    },
    goals={"has": ("agent gem",)},
)
PLINF = _Dialect(
    types={"key": "key", "gem": "gem", "direction": "direction"},
    limits={"gem": len(GEM_COLOURS)},
    facts={
        **dict.fromkeys(("= width", "= height", "= xpos", "= ypos"), ("integer",)),
        **dict.fromkeys(("= xdiff", "= ydiff"), ("direction integer",)),
        **dict.fromkeys(("wall", "door", "doorloc", "itemloc", "loc"), ("integer integer",)),
        "at": ("item integer integer",),
    },
    goals={"has": ("gem",)},
)


class _Spot(NamedTuple):
    """A cell in the coordinates of `Grid`, and its place in the file."""

    x: int
    y: int
    at: Node


class _ProblemMap(NamedTuple):
    """What the dialects say in different ways about the map of a problem."""

    width: int
    height: int
    walls: Sequence[_Spot]
    spots: Mapping[str, _Spot]
    colours: Mapping[str, str]
    agents: tuple[str, ...]
    doors: Sequence[str]
    turns: Turns


class _Problem(NamedTuple):
    """The sections of a problem, checked against its dialect."""

    names: Names
    facts: Sequence[PddlFact]
    goals: Sequence[PddlFact]
    init: Node

    def all(self, name: str) -> list[PddlFact]:
        """The facts of that name."""
        return [fact for fact in self.facts if fact.name == name]

    def the(self, name: str, *about: str) -> PddlFact:
        """The only fact of that name about these words. Raises InputError if it is missing or given twice."""
        facts = [fact for fact in self.all(name) if fact.words[: len(about)] == about]
        phrase = " ".join((name, *about))
        if not facts:
            raise self.init.wrong(f"lacks `{phrase}`")
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
    dialect = _dialect_of(init)
    names = _objects(sections[":objects"], dialect)
    if len(goal.items) != 2:
        raise goal.wrong("a goal is one list", "e.g. `(has human gem1)`")
    goal_node = goal.items[1]
    goal_nodes = goal_node.items[1:] if goal_node.head() == "and" else (goal_node,)
    facts = [syntax.read_fact(node, dialect.facts, names) for node in init.items[1:]]
    goals = [syntax.read_fact(node, dialect.goals, names) for node in goal_nodes]
    problem = _Problem(names, [fact for fact in facts if forbidden or fact.name != "forbidden"], goals, init)
    return Level(path.stem, _world(problem, _draft_clips(problem) if dialect is CLIPS else _draft_plinf(problem)))


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


def _dialect_of(init: Node) -> _Dialect:
    """CLIPS or PLINF, whichever knows the first fact that only one of them can have. Raises InputError if none does."""
    names = [syntax.flat(node)[0] for node in init.items[1:]]
    for name, dialect in product(names, (CLIPS, PLINF)):
        if name in dialect.facts:
            return dialect
    message = f"unknown {quote(names[0])}" if names else "nothing is said about the start"
    raise (init.items[1] if names else init).wrong(message, "this reads Doors-Keys-Gems problems")


def _objects(section: Node, dialect: _Dialect) -> Names:
    """The names of objects by kind, from `key1 key2 - key …`; `item` are keys and gems, `thing` all with a place."""
    names: dict[str, list[str]] = {kind: [] for kind in dialect.types.values()}
    untyped: list[Node] = []
    nodes = iter(section.items[1:])
    for node in nodes:
        if node.text != "-":
            untyped.append(node)
            continue
        type_node = next(nodes, node)
        if type_node.text not in dialect.types:
            raise type_node.wrong(f"unknown type {quote(type_node.text)}", f"one of {', '.join(dialect.types)}")
        kind = dialect.types[type_node.text]
        for object_node in untyped:
            name = syntax.read_name(object_node)
            if any(name in declared for declared in names.values()):
                raise object_node.wrong(f"{quote(name)} is declared twice")
            if len(names[kind]) == dialect.limits.get(kind, MAX_THINGS):
                raise object_node.wrong(f"more than {len(names[kind])} objects of type {kind}")
            names[kind].append(name)
        untyped = []
    if untyped:
        raise untyped[0].wrong(f"{quote(untyped[0].text)} has no type", "e.g. `key1 key2 - key`")
    items = names["key"] + names["gem"]
    return names | {"item": items, "thing": items + names.get("door", []) + names.get("agent", [])}


def _draft_clips(problem: _Problem) -> _ProblemMap:
    """The map of a problem in the dialect of CLIPS, whose coordinates count from 1."""
    names = problem.names
    height, width = problem.the("= walls new-bit-matrix").numbers
    spots = {}
    for name in names["thing"]:
        x, y = problem.the("= xloc", name), problem.the("= yloc", name)
        spots[name] = _Spot(x.numbers[0] - 1, y.numbers[0] - 1, x.at)
    active = problem.the("active")
    order = [active.words[0]]
    for _ in names["agent"]:
        order.append(problem.the("next-turn", order[-1]).words[1])
    if order.pop() != order[0] or len(set(order)) < len(order):
        raise active.at.wrong("`next-turn` does not go round all the agents")
    walls = problem.all("= walls set-index")
    locked = {fact.words[0] for fact in problem.all("locked")}
    return _ProblemMap(
        width=width,
        height=height,
        walls=[_Spot(wall.numbers[1] - 1, wall.numbers[0] - 1, wall.at) for wall in walls],
        spots=spots,
        colours={name: problem.the("iscolor", name).words[1] for name in (*names["item"], *names["door"])},
        agents=tuple(order),
        doors=[door for door in names["door"] if door in locked],  # one that is not locked is floor
        turns="alternating",
    )


def _draft_plinf(problem: _Problem) -> _ProblemMap:
    """The map of a problem in the dialect of Plinf, whose coordinates count from 1 and whose y grows upwards.

    It has one agent. Doors, which have no names there, become door1, door2 … in reading order.
    """
    for axis, name in enumerate(("= xdiff", "= ydiff")):
        for fact in problem.all(name):
            expected = UPWARDS.get(fact.words[0])
            if expected is None or expected[axis] != fact.numbers[0]:
                raise fact.at.wrong(f"`{fact.words[0]}` points elsewhere", "y grows upwards: `(= (ydiff up) 1)`")
    (width,), (height,) = problem.the("= width").numbers, problem.the("= height").numbers
    xpos, ypos = problem.the("= xpos"), problem.the("= ypos")

    def spot(fact: PddlFact, x: int, y: int) -> _Spot:
        return _Spot(x - 1, height - y, fact.at)

    items = {name: problem.the("at", name) for name in problem.names["item"]}
    holes = sorted((spot(door, *door.numbers) for door in problem.all("door")), key=lambda hole: (hole.y, hole.x))
    doors = {f"door{n}": hole for n, hole in enumerate(holes, 1)}
    fixed = doors | {AGENT: spot(xpos, *xpos.numbers, *ypos.numbers)}
    for name, fact in items.items():
        if name in fixed:
            raise fact.at.wrong(f"an item cannot be called `{name}` here")
    return _ProblemMap(
        width=width,
        height=height,
        walls=[spot(fact, *fact.numbers) for fact in problem.all("wall")],
        spots={name: spot(fact, *fact.numbers) for name, fact in items.items()} | fixed,
        colours=dict.fromkeys((*problem.names["key"], *doors), KEY_COLOUR)
        | dict(zip(problem.names["gem"], GEM_COLOURS, strict=False)),
        agents=(AGENT,),
        doors=list(doors),
        turns="simultaneous",
    )


def _world(problem: _Problem, draft: _ProblemMap) -> DoorsKeysGems:
    """The world of a problem and its map. Raises InputError for things outside the grid, in walls or on agents."""
    width, height = draft.width, draft.height
    if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE):
        raise problem.init.wrong(f"a grid of {width} × {height}", f"sides are 1 to {MAX_SIDE} long")
    if len(draft.doors) > MAX_THINGS:
        raise problem.init.wrong(f"more than {MAX_THINGS} doors")
    for name, spot in (*(("this wall", wall) for wall in draft.walls), *draft.spots.items()):
        if not (0 <= spot.x < width and 0 <= spot.y < height):
            raise spot.at.wrong(f"{name} is outside the grid of {width} × {height}")
    grid = Grid.of(width, height, ((wall.x, wall.y) for wall in draft.walls))
    cells = {name: grid.cell(spot.x, spot.y) for name, spot in draft.spots.items()}
    for name, cell in cells.items():
        if not grid.is_floor(cell):
            raise draft.spots[name].at.wrong(f"{name} is in a wall")
    taken = {cells[agent] for agent in draft.agents}
    for door in draft.doors:
        if cells[door] in taken:
            raise draft.spots[door].at.wrong(f"{door} is on the cell of an agent or of another door")
        taken.add(cells[door])

    names = problem.names

    def things(thing_names: Sequence[str]) -> tuple[Thing, ...]:
        return tuple(Thing(name, draft.colours[name], cells[name]) for name in thing_names)

    forbidden = (fact.words for fact in problem.all("forbidden"))
    return DoorsKeysGems(
        grid=grid,
        agents=draft.agents,
        cells=tuple(cells[agent] for agent in draft.agents),
        keys=things(names["key"]),
        doors=things(draft.doors),
        gems=things(names["gem"]),
        goals=_goals(problem, draft.agents),
        turns=draft.turns,
        forbidden=frozenset((draft.agents.index(agent), names["item"].index(item)) for agent, item in forbidden),
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
    **dict.fromkeys((*DIRECTIONS, "wait"), ("agent", "")),
    "pickup": ("agent item", "item"),
    "unlock": ("agent key door", "key direction"),
    "handover": ("agent agent item",),
}
WORDS = {
    "wait": "stay",
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
    names = {"agent": world.agents, "key": keys, "item": keys + gems, "door": doors, "direction": DIRECTIONS}
    cells = list((world.initial if start is None else start).cells)
    moves = []
    for node in syntax.read_nodes(read_text(path), path):
        fact = syntax.read_fact(node, signatures, names)
        names_agent = len(fact.words) == len(PLAN[fact.name][0].split())
        agent, *words = fact.words if names_agent else (*world.agents, *fact.words)
        i = world.agents.index(agent)
        if fact.name == "unlock" and not names_agent:
            direction = fact.words[-1]
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
