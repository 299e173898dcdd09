"""Worlds in the terminal: everything can be told apart without colours, and fits."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console, RenderableType

from commands import Run, fine
from kitchens import holding, kitchen, thing
from otherminds.distribution import Categorical
from otherminds.observer import Observer, attend
from otherminds.reports.terminal.screens import bars, frame, insight, picture
from otherminds.worlds.doors_keys_gems.agent import Seeker
from otherminds.worlds.doors_keys_gems.level_files import find_level, parse_level
from otherminds.worlds.doors_keys_gems.planner import DoorsKeysGemsPlanner, Goal

ROOM = ("-t-T--", "p12  *", "-/--D#")
GEMS = "agents: Ana, Ben\ngoals: red, blue\n\na1 gr\na2 gb\n"


def shown(renderable: RenderableType, width: int = 80, colours: str | None = None) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=colours, force_terminal=bool(colours))  # type: ignore[arg-type]
    console.print(renderable)
    written = console.file
    assert isinstance(written, io.StringIO)
    return written.getvalue()


def squares(*hands: str, delivered: tuple[int, ...] = (), seen_by: str | None = None) -> list[list[str]]:
    """The kitchen, square by square, with these things in people's hands."""
    world = kitchen(*ROOM, recipes=("OnionSalad", "Salad"))
    state = holding(world, *hands)._replace(delivered=(delivered,))
    rows = picture(world, state, seen_by).plain.split("\n")[1:]
    return [[row[2 + 4 * x : 6 + 4 * x] for x in range(6)] for row in rows]


def test_every_kind_of_square_looks_different() -> None:
    found = squares("", "")
    assert found[0][0] == "░░░░"
    assert found[1] == ["░()░", " A  ", " B  ", " ·  ", " ·  ", "****"]
    assert found[2][1:] == ["////", "░░░░", "░░░░", " ∩  ", "████"]


def test_fresh_food_differs_from_chopped_food() -> None:
    top = squares("", "")[0]
    assert (top[1], top[3]) == ("░t░░", "░T░░")


@pytest.mark.parametrize(
    ("held", "sign"),
    [
        ("", " A  "),
        ("plate", " A()"),
        ("fresh lettuce", " Al "),
        ("chopped lettuce", " AL "),
        ("chopped onion, plate", "A(O)"),
        ("chopped tomato, chopped lettuce", " ATL"),
        ("chopped tomato, chopped lettuce, plate", "A(T…"),
    ],
)
def test_people_are_shown_with_what_they_carry(held: str, sign: str) -> None:
    assert squares(held, "")[1][1:3] == [sign, " B  "]


def test_what_has_been_delivered_is_shown_or_counted() -> None:
    dish = thing("chopped tomato, plate")
    assert squares("", "", delivered=(dish,))[1][5] == "*(T)"
    assert squares("", "", delivered=(dish, dish))[1][5] == "*×2*"


def test_foods_and_goals_have_colours() -> None:
    world = kitchen("tlo", "1  ", recipes=("SimpleTomato",))
    drawn = shown(picture(world, world.initial), colours="truecolor")
    for red, green, blue in ((216, 65, 47), (90, 160, 44), (180, 138, 196)):
        assert f"38;2;{red};{green};{blue}m" in drawn


def test_a_star_marks_what_somebody_really_wants() -> None:
    world = kitchen("t1-", recipes=("SimpleOnion",))
    belief = Categorical.from_scores([("SimpleTomato", 0.0), ("SimpleOnion", 0.0)])
    lines = shown(bars(world, 0, belief, "1 Ana")).splitlines()
    assert "1 Ana" in lines[0]
    assert [line.strip("│ ") for line in lines[1:3]] == [
        "SimpleTomato ██████░░░░░░ 0.50",
        "★ SimpleOnion  ██████░░░░░░ 0.50",
    ]


def test_what_nobody_thought_of_is_told() -> None:
    belief = Categorical.uniform(["SimpleTomato"])
    assert "★ Salad" in shown(bars(kitchen("t1-", recipes=("Salad",)), 0, belief, "1 Ana"))


def test_a_star_marks_the_gem_that_somebody_really_wants() -> None:
    world = parse_level(GEMS, Path("level.txt")).world
    belief = Categorical.uniform([Goal("gem", 0), Goal("gem", 1)])
    lines = shown(bars(world, 1, belief, "Ben")).splitlines()
    assert ["★" in line for line in lines[1:3]] == [False, True]
    assert "blue" in lines[2]


def test_a_large_kitchen_with_its_bars_fits_80_columns() -> None:
    world = kitchen("-" * 9, "1      2-", *["-       -"] * 6, "t" * 9, recipes=("SimpleTomato", "SimpleLettuce"))
    belief = Categorical.uniform(["SimpleTomato", "SimpleLettuce", "SimpleOnion"])
    state = holding(world, "chopped tomato, plate", "")
    beliefs, surprise = {"Ana": belief, "Ben": belief}, {"Ana": 3.14, "Ben": 2.9}
    lines = shown(frame(world, state, beliefs, surprise, ["well"], "kitchen, step 3")).splitlines()
    assert sum("surprising" in line for line in lines) == 1
    assert any("surprising: 3.1 nats" in line for line in lines)
    assert max(map(len, lines)) <= 80
    assert "kitchen, step 3" in lines[0]
    assert "A Ana: chopped tomato, plate" in lines[0]
    assert lines[-1].strip() == "» well"


def test_what_is_understood_is_told_with_what_another_goal_called_for() -> None:
    """Beside Ana lie a red and a yellow gem; left leads to the blue one, up and right to the key for the green one."""
    world = find_level("pass-it-on").world
    planner, state, stay = DoorsKeysGemsPlanner(world), world.initial, world.vocabulary["stay"]
    watchers = {"Ana": Observer.over(Seeker(planner, 0, Goal("gem", gem)) for gem in range(4)).see(state)}
    for way, told in (
        ("up", "Ana wants blue (0.49): red called for right, not up"),
        ("left", "Ana wants blue (0.99): green called for up, not left"),
    ):
        joint = {"Ana": world.vocabulary[way], "Ben": stay}
        state = world.step(state, joint)
        after = attend(world, watchers, joint, state)
        belief = after["Ana"].ask(lambda mind: mind.goal)
        assert insight(world, "Ana", belief, watchers, joint) == told
        assert insight(world, "Ana", belief, {}, joint) == told.partition(":")[0]
        watchers = dict(after)


@pytest.mark.slow
def test_what_is_understood_is_told_once(run: Run) -> None:
    lines = fine(run("watch", "garden-gate", "--delay", "0")).splitlines()
    assert [line for line in lines if line.startswith("! Ana")] == [
        "! Ana wants blue (0.94): red called for left, not pickup gem2"
    ]
