"""PDDL problems and plans: their meaning, and the places of errors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otherminds.errors import InputError
from otherminds.worlds.doors_keys_gems.level_files import draw_text
from otherminds.worlds.doors_keys_gems.pddl import PlanStep, follow_plan, parse_problem, read_plan, read_problem
from otherminds.worlds.doors_keys_gems.pddl_syntax import MAX_DEPTH, read_nodes
from otherminds.worlds.doors_keys_gems.rules import NOTHING, STAY, Action, DoorsKeysGems
from paths import SHARED

DATA = SHARED
HERE = Path("problem.pddl")

PAIR = """\
; two people; Bo goes first
(define (problem corridor)
  (:domain doors-keys-gems)
  (:objects al - robot  bo - human
            k1 k2 - key  d1 d2 - door  ruby opal - gem
            red pink - color)
  (:init (= (walls) (new-bit-matrix false 3 5))   ; three rows, five columns
         (= (walls) (set-index walls true 1 4))
         (= (walls) (set-index walls true 3 1))
         (= (xloc bo) 1) (= (yloc bo) 1)
         (= (xloc al) 3) (= (yloc al) 3)
         (= (xloc k1) 2) (= (yloc k1) 1) (iscolor k1 red)
         (= (xloc k2) 5) (= (yloc k2) 3) (iscolor k2 pink)
         (= (xloc d1) 4) (= (yloc d1) 2) (iscolor d1 red) (locked d1)
         (= (xloc d2) 2) (= (yloc d2) 3) (iscolor d2 pink)
         (= (xloc ruby) 5) (= (yloc ruby) 2) (iscolor ruby red)
         (= (xloc opal) 5) (= (yloc opal) 1) (iscolor opal pink)
         (active bo) (next-turn al bo) (next-turn bo al)
         (forbidden al opal))
  (:goal (has bo opal)))
"""

SOLO = """\
(define (problem tower)
  (:domain doors-keys-gems)
  (:objects up down left right - direction key1 key2 - key gem1 gem2 - gem)
  (:init (= (xdiff up) 0) (= (ydiff up) 1) (= (xdiff left) -1)
         (= (width) 3) (= height 4) (= xpos 1) (= (ypos) 1)
         (wall 2 4)
         (door 3 1) (doorloc 3 1)
         (door 3 3) (doorloc 3 3)
         (at key1 1 3) (itemloc 1 3)
         (at key2 2 1)
         (at gem1 1 4) (at gem2 3 4) (loc 3 4))
  (:goal (has gem2)))
"""

SOLO_PLAN = "(up)\n(up)\n; a remark\n(pickup key1)\n(right)\n(unlock key1 right)\n(right)\n(up)\n(pickup gem2)\n"


@pytest.fixture
def pair() -> DoorsKeysGems:
    return parse_problem(PAIR, HERE).world


@pytest.fixture
def solo() -> DoorsKeysGems:
    return parse_problem(SOLO, HERE).world


def plan_file(folder: Path, text: str) -> Path:
    path = folder / "plan.plan"
    path.write_text(text, "utf-8")
    return path


def test_the_map_of_several_agents(pair: DoorsKeysGems) -> None:
    assert draw_text(pair, pair.initial).splitlines() == [
        "a1 kr .. ## gp",
        ".. .. .. dr gr",
        "## .. a2 .. kp",
    ]


def test_the_rules_of_several_agents(pair: DoorsKeysGems) -> None:
    assert pair.agents == ("bo", "al")
    assert pair.turns == "alternating"
    assert pair.goals == (1, NOTHING)
    assert pair.forbidden == {(1, 3)}
    assert [(item.name, item.colour) for item in pair.items] == [
        ("k1", "red"),
        ("k2", "pink"),
        ("ruby", "red"),
        ("opal", "pink"),
    ]
    assert [door.name for door in pair.doors] == ["d1"]  # d2 is not locked, so it is floor


def test_what_is_forbidden_can_be_allowed() -> None:
    assert parse_problem(PAIR, HERE, forbidden=False).world.forbidden == frozenset()


def test_several_goals() -> None:
    text = PAIR.replace("(has bo opal)", "(and (has al ruby) (has bo opal))")
    assert parse_problem(text, HERE).world.goals == (1, 0)


def test_a_colour_need_not_be_declared() -> None:
    text = PAIR.replace("red pink - color", "red - color")
    assert parse_problem(text, HERE).world == parse_problem(PAIR, HERE).world


def test_one_agent_sees_up_as_up(solo: DoorsKeysGems) -> None:
    assert draw_text(solo, solo.initial).splitlines() == ["gr ## gy", "kn .. dn", ".. .. ..", "a1 kn dn"]
    assert solo.agents == ("agent",)
    assert solo.goals == (1,)
    after = solo.apply(solo.initial, 0, Action("up"))
    assert solo.grid.xy(after.cells[0]) == (0, 2)


def test_doors_without_a_name_are_numbered_in_reading_order(solo: DoorsKeysGems) -> None:
    assert [(door.name, solo.grid.xy(door.cell)) for door in solo.doors] == [
        ("door1", (2, 1)),
        ("door2", (2, 3)),
    ]


def test_any_key_opens_any_door(solo: DoorsKeysGems) -> None:
    assert len({thing.colour for thing in (*solo.keys, *solo.doors)}) == 1


def test_a_level_is_named_after_its_file(tmp_path: Path) -> None:
    path = tmp_path / "11.pddl"
    path.write_text(SOLO, "utf-8")
    assert read_problem(path).name == "11"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(active bo)", "(frozen bo)", "18:10: unknown `frozen`"),
        ("(= (xloc al) 3)", "(= (zloc al) 3)", "11:10: unknown `= zloc`"),
        ("(locked d1)", "(locked d9)", "14:67: there is no door `d9` (there is d1, d2)"),
        ("(locked d1)", "(locked k1)", "14:67: there is no door `k1`"),
        ("(locked d1)", "(locked d1 d2)", "14:59: `locked` has 2 arguments instead of 1"),
        ("(= (xloc al) 3)", "(= (xloc al) 3 3)", "11:10: `=` has 3 arguments instead of 2"),
        ("(= (xloc al) 3)", "(= (xloc al) 3.5)", "11:23: `3.5` is not an integer"),
        ("(= (xloc al) 3)", "(= (xloc al) ³)", "11:23: `³` is not an integer"),
        ("(= (xloc al) 3)", "(= (xloc al) 6)", "11:10: al is outside the grid of 5 × 3"),
        ("(= (xloc al) 3)", "(= (xloc al) 0)", "11:10: al is outside the grid of 5 × 3"),
        ("(= (xloc al) 3)", "(= (xloc al) 1)", "11:10: al is in a wall"),
        ("(= (xloc al) 3)", "(= (xloc al) 3) (= (xloc al) 2)", "11:26: `= xloc al` is given twice"),
        ("(= (xloc al) 3)", "", "7:3: lacks `= xloc al`"),
        ("(= (xloc al) 3) (= (yloc al) 3)", "(= (xloc al) 4) (= (yloc al) 2)", "14:10: d1 is on the cell of"),
        ("(iscolor k1 red)", "", "7:3: lacks `iscolor k1`"),
        ("(iscolor k1 red)", "(iscolor k1 (red))", "12:54: `(…)` cannot be a name"),
        ("set-index walls true 1 4", "set-index walls true 4 4", "8:10: this wall is outside the grid"),
        (
            "set-index walls true 1 4",
            "set-index walls maybe 1 4",
            "8:38: there is no bit `maybe` (there is false, true)",
        ),
        ("false 3 5", "false 3 65", "7:3: a grid of 65 × 3"),
        ("false 3 5", "false 3 99999", "7:45: `99999` is not an integer of at most four digits"),
        ("(active bo)", "", "7:3: lacks `active`"),
        ("(active bo)", "(active bo) (active al)", "18:22: `active` is given twice"),
        ("(next-turn al bo)", "(next-turn al al)", "18:10: `next-turn` does not go round all the agents"),
        ("(next-turn bo al)", "(next-turn bo bo)", "18:10: `next-turn` does not go round all the agents"),
        ("(next-turn al bo)", "", "7:3: lacks `next-turn al`"),
        ("k1 k2 - key", "k1 k1 - key", "5:16: `k1` is declared twice"),
        ("k1 k2 - key", "k1 2k - key", "5:16: `2k` cannot be a name"),
        ("k1 k2 - key", "k1 ké - key", "5:16: `ké` cannot be a name"),
        ("k1 k2 - key", "k1 k2 - kei", "5:21: unknown type `kei`"),
        ("red pink - color)", "red pink)", "6:13: `red` has no type"),
        ("(has bo opal)", "(has bo k1)", "20:18: there is no gem `k1`"),
        ("(has bo opal)", "(and (has bo opal) (has bo ruby))", "20:29: a second goal"),
        ("(has bo opal)", "(and (has bo opal) (has al opal))", "20:29: a second goal"),
        ("(has bo opal)", "(has bo opal) (has al ruby)", "20:3: a goal is one list"),
        ("(has bo opal)", "opal", "20:10: `opal` where a list is needed"),
        ("(:goal (has bo opal))", "", "2:1: lacks `(:goal …)`"),
        ("(:domain doors-keys-gems)", "(:domain d) (:domain d)", "3:15: `:domain` is given twice"),
        ("(:domain doors-keys-gems)", "(:metric d)", "3:3: unknown `:metric`"),
        ("(define (problem", "(defined (problem", "1: does not begin with `(define`"),
        ("(has bo opal)))", "(has bo opal))", "2:1: `(` is never closed"),
        ("(has bo opal)))", "(has bo opal))))", "20:25: `)` closes nothing"),
        ("(has bo opal)))", "(has bo opal))) x", "20:26: something follows the end"),
        ("(active bo)", "()", "18:10: a list that does not begin with a word"),
    ],
)
def test_what_is_wrong_with_a_problem_of_several(old: str, new: str, message: str) -> None:
    check_refused(PAIR, old, new, message)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(= (ydiff up) 1)", "(= (ydiff up) -1)", "4:27: `up` points elsewhere"),
        ("(= xpos 1)", "", "4:3: lacks `= xpos`"),
        ("(= xpos 1)", "(= xpos 4)", "5:37: agent is outside the grid of 3 × 4"),
        ("(= height 4)", "(= height 0)", "4:3: a grid of 3 × 0"),
        ("(at key1 1 3)", "", "4:3: lacks `at key1`"),
        ("(at key1 1 3)", "(at key1 2 4)", "9:10: key1 is in a wall"),
        ("(at key1 1 3)", "(at key1 1 3) (at key1 1 2)", "9:24: `at key1` is given twice"),
        ("(wall 2 4)", "(wall 2 5)", "6:10: this wall is outside the grid of 3 × 4"),
        ("(wall 2 4)", "(wall 3 3)", "8:10: door1 is in a wall"),
        ("(wall 2 4)", "(door 3 3)", "8:10: door2 is on the cell of an agent or of another door"),
        ("(wall 2 4)", "(wall 2 4) (locked door1)", "6:29: there is no door `door1`"),
        ("gem1 gem2 - gem", "gem1 gem2 - gem box1 - box", "3:83: unknown type `box`"),
        ("(has gem2)", "(has bob gem2)", "12:15: there is no agent `bob` (there is agent)"),
        ("key1 key2 - key", "agent key2 - key", "3:3: only an agent can be called `agent`"),
        ("key2", "door2", "10:10: an item cannot be called `door2` here"),
    ],
)
def test_what_is_wrong_with_a_problem_of_one(old: str, new: str, message: str) -> None:
    check_refused(SOLO, old, new, message)


def check_refused(text: str, old: str, new: str, message: str) -> None:
    assert old in text
    with pytest.raises(InputError) as caught:
        parse_problem(text.replace(old, new), HERE)
    assert str(caught.value).startswith(f"{HERE}:{message}")


# The form with bit matrices: y grows downwards, doors are objects, and the only agent is at (xpos), (ypos).

MATRIX = """\
(define (problem bits)
  (:domain doors-keys-gems)
  (:objects door1 - door key1 - key gem1 gem2 - gem)
  (:init (locked door1)
         (= (walls)
            (transpose (bit-mat        ; rows from the top
               (bit-vec 0 0 0 0)
               (bit-vec 0 0 1 0)
               (bit-vec 0 0 0 0))))
         (= (xloc door1) 3) (= (yloc door1) 3)
         (= (xloc key1) 2) (= (yloc key1) 1)
         (= (xloc gem1) 4) (= (yloc gem1) 3)
         (= (xloc gem2) 4) (= (yloc gem2) 1)
         (= (xpos) 1) (= (ypos) 2))
  (:goal (has gem1)))
"""
MATRIX_MAP = [".. kn .. gy", "a1 .. ## ..", ".. .. dn gr"]
TRANSPOSED = """(transpose (bit-mat        ; rows from the top
               (bit-vec 0 0 0 0)
               (bit-vec 0 0 1 0)
               (bit-vec 0 0 0 0))))"""


def rewritten(*pairs: tuple[str, str]) -> DoorsKeysGems:
    """The world of MATRIX after replacements."""
    text = MATRIX
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return parse_problem(text, HERE).world


def test_the_map_of_a_bit_matrix() -> None:
    world = rewritten()
    assert draw_text(world, world.initial).splitlines() == MATRIX_MAP
    assert (world.agents, world.goals, world.turns) == (("agent",), (0,), "simultaneous")
    assert [door.name for door in world.doors] == ["door1"]
    after = world.apply(world.initial, 0, Action("up"))
    assert world.grid.xy(after.cells[0]) == (0, 0)


@pytest.mark.parametrize(
    "pairs",
    [
        pytest.param(
            [(MATRIX.split(":init ")[1].split("(= (walls)")[0], ""), ("(ypos) 2)", "(ypos) 2) (locked door1)")]
        ),
        pytest.param([(TRANSPOSED, "(bit-mat (bit-vec 0 0 0) (bit-vec 0 0 0) (bit-vec 0 1 0) (bit-vec 0 0 0)))")]),
        pytest.param([(TRANSPOSED, "(new-bit-matrix false 3 4)) (= (walls) (set-index walls true 2 3))")]),
        pytest.param(
            [("1 0)\n", "1 1)\n"), ("(locked door1)", "(= (walls) (set-index walls false 2 4)) (locked door1)")]
        ),
        pytest.param(
            [("(= (walls)", "(= walls"), ("(= (xpos) 1)", "(= xpos (1))"), ("(= (xloc key1) 2)", "(= (xloc key1) (2))")]
        ),
        pytest.param([("(xloc gem1) 4", "(xloc gem1) 4.0"), ("(ypos) 2", "(ypos) 2.")]),
        pytest.param(
            [("(locked door1)", "(LOCKED Door1)"), ("(xloc key1)", "(XLOC KEY1)"), (":goal (has", ":GOAL (HAS")]
        ),
        pytest.param(
            [
                ("(locked door1)", "(locked door1) (not (locked door2))"),
                ("door1 - door", "door1 door2 - door"),
                ("(= (xpos) 1)", "(= (xloc door2) 1) (= (yloc door2) 1) (= (xpos) 1)"),
            ]
        ),
        pytest.param([("0 0 1 0", "false False true FALSE"), ("(has gem1)", "(and (has gem1))")]),
        pytest.param(
            [("gem2 - gem)", "gem2 - gem up down - direction)"), ("(locked door1)", "(= (ydiff up) -1) (locked door1)")]
        ),
        pytest.param(
            [
                ("gem2 - gem)", "gem2 - gem agent - human)"),
                ("(xpos)", "(xpos agent)"),
                ("(ypos)", "(ypos agent)"),
                ("(has gem1)", "(has agent gem1)"),
            ]
        ),
        pytest.param(
            [("gem2 - gem)", "gem2 - gem agent - agent)"), ("(xpos)", "(xloc agent)"), ("(ypos)", "(yloc agent)")]
        ),
    ],
    ids=[
        "clauses in another order",
        "columns instead of rows",
        "an empty matrix",
        "a wall taken away",
        "brackets",
        "floats",
        "upper case",
        "negations",
        "words for bits",
        "directions",
        "a position of an object",
        "a place of an object",
    ],
)
def test_other_ways_to_write_the_same_problem(pairs: list[tuple[str, str]]) -> None:
    assert rewritten(*pairs) == rewritten()


def test_one_cell_is_a_map() -> None:
    init = "(= (walls) (bit-mat (bit-vec 0))) (= (xloc gem1) 1) (= (yloc gem1) 1) (= xpos 1) (= ypos 1)"
    text = f"(define (problem p) (:domain d) (:objects gem1 - gem) (:goal (has gem1)) (:init {init}))"
    world = parse_problem(text, HERE).world
    assert (world.grid.width, world.grid.height) == (1, 1)
    assert world.actions(world.initial, "agent") == (STAY, Action("pickup", 0))


TWO = [
    ("gem2 - gem)", "gem2 - gem human robot - agent red - color)"),
    ("(= (xpos) 1) (= (ypos) 2)", "(= (xloc human) 1) (= (yloc human) 2) (= (xloc robot) 2) (= (yloc robot) 2)"),
    ("(locked door1)", "(locked door1) (iscolor door1 red) (iscolor key1 Red)"),
    ("(has gem1)", "(has human gem1)"),
]


def test_several_agents_act_together_unless_there_are_turns() -> None:
    world = rewritten(*TWO)
    assert (world.agents, world.turns, world.goals) == (("human", "robot"), "simultaneous", (0, NOTHING))
    assert [thing.colour for thing in (*world.keys, *world.doors)] == ["red", "red"]
    assert [gem.colour for gem in world.gems] == ["red", "yellow"]
    codes = "(= (agentcode human) 0) (= (agentcode robot) 1) (= turn 1) (locked door1)"
    world = rewritten(*TWO, ("(locked door1)", codes))
    assert (world.agents, world.turns, world.goals) == (("robot", "human"), "alternating", (NOTHING, 0))


def test_a_plan_names_doors_or_directions(tmp_path: Path) -> None:
    world = rewritten()
    start = "(up) (right) (pickup key1) (down) (down) "
    named = follow_plan(world, read_plan(plan_file(tmp_path, start + "(unlock key1 door1)"), world), HERE)
    pointed = follow_plan(world, read_plan(plan_file(tmp_path, start + "(UNLOCK key1 RIGHT)"), world), HERE)
    assert named == pointed
    assert named[-1].after.locked == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            f"(= (walls)\n            {TRANSPOSED}",
            "",
            "4:3: lacks the walls (`(= (walls) (transpose (bit-mat (bit-vec 0 1 0) …)))`",
        ),
        ("(bit-vec 0 0 1 0)", "(bit-vec 0 0 1)", "8:16: 3 bits here, 4 in the first `bit-vec`"),
        ("(bit-vec 0 0 1 0)", "(bit-vec 0 0 2 0)", "8:29: `2` is no bit (0 for floor, 1 for a wall)"),
        ("(bit-vec 0 0 1 0)", "(bits 0 0 1 0)", "5:10: a bit matrix needs a `(bit-vec …)` for each row"),
        ("(bit-mat  ", "(bit-mat) (bit-mat  ", "5:10: `transpose` needs one `(bit-mat …)`"),
        ("(locked door1)", "(locked door1) (= (walls) (bit-mat (bit-vec 0)))", "5:10: `= walls` is given twice"),
        ("(locked door1)", "(locked door1) (= (walls) (new-bit-matrix false 3 4))", "5:10: `= walls` is given twice"),
        ("(locked door1)", "(locked door1) (not (locked door1))", "4:10: `locked door1` is both given and denied"),
        ("(locked door1)", "(locked door1) (not (= (xpos) 2))", "4:30: unknown `= xpos`"),
        ("(= (xloc key1) 2)", "", "4:3: lacks `= xloc key1` (`(= (xloc key1) 3)`)"),
        ("(= (xpos) 1)", "", "4:3: lacks `= xpos` (`(= (xpos) 3)`)"),
        ("(locked door1)", "(locked)", "4:10: `locked` has 0 arguments instead of 1 (such as `(locked door1)`)"),
        ("gem2 - gem)", "gem2 - gem human robot - agent)", "4:3: lacks `= xpos human` (`(= (xpos human) 3)`)"),
    ],
)
def test_what_is_wrong_with_a_bit_matrix(old: str, new: str, message: str) -> None:
    check_refused(MATRIX, old, new, message)


def test_another_game_is_refused_by_its_first_fact() -> None:
    blocks = "(define (problem p) (:domain blocks) (:objects a b - block) (:init (on a b)) (:goal (on b a)))"
    with pytest.raises(InputError, match=r"problem.pddl:1:68: unknown `on`"):
        parse_problem(blocks, HERE)
    with pytest.raises(InputError, match=r"problem.pddl:1:61: nothing is said about the start"):
        parse_problem(blocks.replace("(on a b)", ""), HERE)


def test_an_empty_file_is_no_problem() -> None:
    with pytest.raises(InputError, match=r"problem.pddl:1: does not begin with"):
        parse_problem("; nothing\n", HERE)


@pytest.mark.parametrize("kind", ["gem", "key"])
def test_things_are_bounded(kind: str) -> None:
    names = " ".join(f"extra{n}" for n in range(26))
    with pytest.raises(InputError, match=f"more than 26 objects of type {kind}"):
        parse_problem(SOLO.replace(f"{kind}1 {kind}2 - {kind}", f"{kind}1 {kind}2 {names} - {kind}"), HERE)


def test_only_as_many_gems_as_there_are_colours_go_without_a_colour() -> None:
    names = [f"extra{n}" for n in range(7)]
    text = SOLO.replace("gem1 gem2 - gem", f"gem1 gem2 {' '.join(names)} - gem")
    text = text.replace("(loc 3 4)", "(loc 3 4) " + " ".join(f"(at {name} 1 2)" for name in names))
    with pytest.raises(InputError, match="more than 8 gems without a colour"):
        parse_problem(text, HERE)
    gems = parse_problem(text.replace("(loc 3 4)", "(iscolor gem1 pink)"), HERE).world.gems
    assert len({gem.colour for gem in gems}) == 9


def test_doors_are_bounded() -> None:
    row = " ".join(f"(door {x} 1)" for x in range(2, 29))
    text = SOLO.replace("(= (width) 3)", "(= (width) 30)")
    with pytest.raises(InputError, match="more than 26 doors"):
        parse_problem(text.replace("(door 3 1)", row), HERE)


def test_nesting_is_bounded_and_not_recursive() -> None:
    deepest = "(" * MAX_DEPTH + ")" * MAX_DEPTH
    assert len(read_nodes(deepest, HERE)) == 1
    with pytest.raises(InputError, match=f"problem.pddl:1:{MAX_DEPTH + 1}: nested more than {MAX_DEPTH} deep"):
        read_nodes("(" * 100_000, HERE)


def test_places_are_counted_from_one() -> None:
    (node,) = read_nodes("; x\n  (a\t(b ;)\n c))", HERE)
    assert (node.line, node.column) == (2, 3)
    inner = node.items[1]
    assert [(atom.text, atom.line, atom.column) for atom in inner.items] == [("b", 2, 7), ("c", 3, 2)]


def test_a_plan_of_several(pair: DoorsKeysGems, tmp_path: Path) -> None:
    text = "(right bo)\n(wait al) ; waits\n\n(pickup bo k1)\n(up al)\n(handover bo al k1)\n"
    plan = read_plan(plan_file(tmp_path, text), pair)
    assert plan == [
        PlanStep(0, Action("right"), 1),
        PlanStep(1, STAY, 2),
        PlanStep(0, Action("pickup", 0), 4),
        PlanStep(1, Action("up"), 5),
        PlanStep(0, Action("handover", 0, 1), 6),
    ]


def test_a_plan_of_several_is_followed(pair: DoorsKeysGems, tmp_path: Path) -> None:
    text = "(right bo) (up al) (pickup bo k1) (up al) (handover bo al k1) (down al) (wait bo) (unlock al k1 d1)"
    path = plan_file(tmp_path, text)
    steps = follow_plan(pair, read_plan(path, pair), path)
    assert [step.state for step in steps] == [pair.initial, *(step.after for step in steps[:-1])]
    assert steps[1].joint == {"bo": STAY, "al": Action("up")}
    assert steps[4].after.items[0] == 1
    assert steps[-1].after.locked == 0


def test_a_plan_can_go_on_where_another_ended(pair: DoorsKeysGems, tmp_path: Path) -> None:
    path = plan_file(tmp_path, "(up al)\n")
    start = pair.step(pair.initial, {"bo": STAY})
    (step,) = follow_plan(pair, read_plan(path, pair), path, start=start)
    assert step.state == start
    with pytest.raises(InputError, match=r"plan.plan:1: it is not the turn of al but of bo"):
        follow_plan(pair, read_plan(path, pair), path)


def test_a_plan_of_one(solo: DoorsKeysGems, tmp_path: Path) -> None:
    path = plan_file(tmp_path, SOLO_PLAN)
    plan = read_plan(path, solo)
    assert plan[4] == PlanStep(0, Action("unlock", 0, 0), 6)
    assert solo.done(follow_plan(solo, plan, path)[-1].after)


def test_a_lone_agent_may_be_named(solo: DoorsKeysGems, tmp_path: Path) -> None:
    path = plan_file(tmp_path, "(right agent) (pickup agent key2) (unlock agent key2 door2) (right)")
    assert solo.grid.xy(follow_plan(solo, read_plan(path, solo), path)[-1].after.cells[0]) == (2, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(right bo)\n(jump al)", "2:1: unknown `jump`"),
        ("(right)", "1:1: `right` has 0 arguments instead of 1"),
        ("(right cy)", "1:8: there is no agent `cy` (there is bo, al)"),
        ("(pickup bo d1)", "1:12: there is no item `d1`"),
        ("(unlock bo k1 right)", "1:15: there is no door `right`"),
        ("(unlock bo ruby d1)", "1:12: there is no key `ruby`"),
        ("(right bo", "1:1: `(` is never closed"),
        ("(wait bo)\nright", "2:1: `right` where a list is needed"),
        ("(right bo)\n\n(pickup al k2)", "3: al cannot do `pickup k2` here (allowed: up, left, right, stay)"),
        ("(left bo)", "1: bo cannot do `left` here"),
        (
            "(right bo) (wait al) (pickup bo k1) (wait al) (unlock bo k1 d1)",
            "1: bo cannot do `unlock d1 with k1` here",
        ),
    ],
)
def test_what_is_wrong_with_a_plan(pair: DoorsKeysGems, tmp_path: Path, text: str, message: str) -> None:
    path = plan_file(tmp_path, text)
    with pytest.raises(InputError) as caught:
        follow_plan(pair, read_plan(path, pair), path)
    assert str(caught.value).startswith(f"{path}:{message}")


def test_a_direction_without_a_door(solo: DoorsKeysGems, tmp_path: Path) -> None:
    path = plan_file(tmp_path, "(right) (pickup key2) (unlock key2 up)")
    with pytest.raises(InputError, match="1:23: there is no door up of the agent"):
        read_plan(path, solo)


PIECES = st.sampled_from(
    ["(", ")", ";", " ", "\n", "=", "-", "0", "-1", "99", "bo", "key1", "true", "walls", "é", "\x00", "and"]
)


@pytest.mark.slow
@settings(deadline=None)
@given(text=st.sampled_from([PAIR, SOLO, MATRIX]), data=st.data())
def test_a_damaged_problem_is_read_or_refused(text: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(PIECES) + text[at + data.draw(st.integers(0, 12)) :]
    try:
        world = parse_problem(text, HERE).world
    except InputError as error:
        complaint = str(error)
        assert re.match(r"problem\.pddl:\d+(:\d+)?: .*$", complaint)
    else:
        assert all(world.grid.is_floor(thing.cell) for thing in (*world.items, *world.doors))
        assert all(world.actions(world.initial, agent) for agent in world.agents)


@settings(deadline=None)
@given(text=st.text(alphabet=st.sampled_from("()ab ;\n"), max_size=60))
def test_brackets_are_counted_rightly(text: str) -> None:
    kept = "".join(line.split(";")[0] for line in text.split("\n"))
    depth, lowest = 0, 0
    for c in kept:
        depth += {"(": 1, ")": -1}.get(c, 0)
        lowest = min(lowest, depth)
    balanced = depth == 0 and lowest == 0
    try:
        read_nodes(text, HERE)
    except InputError:
        assert not balanced
    else:
        assert balanced


def needed(folder: str) -> Path:
    if not (DATA / folder).is_dir():
        pytest.skip(f"needs the unlicensed development data in {folder}, which are not part of the project")
    return DATA / folder


def test_the_published_plans_of_several_are_valid() -> None:
    clips = needed("clips-dev")
    observed = sorted((clips / "plans" / "observed").glob("*.pddl"))
    assert observed
    for first in observed:
        world = read_problem(clips / "problems" / f"{first.name.split('.')[0]}.pddl").world
        steps = follow_plan(world, read_plan(first, world), first)
        state = steps[-1].after if steps else world.initial
        second = clips / "plans" / "completed" / first.name
        last = follow_plan(world, read_plan(second, world), second, start=state)[-1]
        action = last.joint["human"]
        assert action.verb == "pickup"
        assert action.item >= len(world.keys)
        assert last.after.items[action.item] == world.agents.index("human")


def test_the_published_actions_of_one_are_valid() -> None:
    scenarios = needed("dkg-human-dev") / "new-scenarios"
    actions = sorted((scenarios / "actions").glob("*.dat"))
    assert actions
    for path in actions:
        world = read_problem(scenarios / f"scenario-{path.stem.replace('_', '-')}.pddl").world
        assert follow_plan(world, read_plan(path, world), path)
