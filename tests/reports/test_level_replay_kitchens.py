"""The episode viewer shows kitchens as they were at every step, and to each person what they saw of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings

from kitchens import kitchen, kitchen_plays, plain, thing
from otherminds.errors import InputError
from otherminds.reports.level_replay import level_scene, replays
from otherminds.reports.page import Section, page
from otherminds.worlds import sprites
from otherminds.worlds.doors_keys_gems.level_files import parse_level
from otherminds.worlds.overcooked import drawing as kitchen_drawing
from otherminds.worlds.overcooked.kitchen import NOTHING, RECIPES
from otherminds.worlds.overcooked.level_files import KitchenLevel
from otherminds.worlds.overcooked.rules import UNSEEN, Overcooked, State
from otherminds.worlds.sprites import CELL
from viewer import HOSTILE, Outline, browsed, data, in_browser

if TYPE_CHECKING:
    from playwright.sync_api import Page

LEVEL = KitchenLevel(
    "two rooms",
    kitchen("-t-#-p-", "/1 D 2*", "-  -  l", "-------", recipes=("SimpleTomato", "Salad")),
    certificate={"class": "useful"},
)
ANA = ("right", "up", "right", "right", "right", "left", "right", "stay")
BEN = ("up", "down", "down", "right", "left", "left", "up", "up")
POSTERIOR = {"SimpleTomato": 0.75, "Salad": 0.25}
DKG = """\
agents: Ana, Ben
goals: red, blue

a1 .. gr
a2 .. gb
"""

Row = dict[str, Any]
Play = tuple[Overcooked, list[State], list[tuple[str, ...]]]
Xy = tuple[int, int]


def played(level: KitchenLevel, deeds: Sequence[Sequence[str]], subject: str = "protom") -> list[Row]:
    """The rows of an episode in which people do this."""
    base = {"condition": "useful", "subject": subject, "seed": 42, "episode": level.name}
    rows: list[Row] = []
    for t, joint in enumerate(deeds):
        for agent, action, recipe in zip(level.world.agents, joint, level.world.recipes, strict=True):
            believed = {"posterior": POSTERIOR, "p_true": POSTERIOR.get(recipe or "", 0.0)}
            rows.append({**base, "t": t, "agent": agent, "action": action, "goal": recipe or "", **believed})
        rows.append({**base, "t": t, "agent": "facilitator", "action": "", "ms": 1.0, "why": "nothing helps"})
    return rows


def states(world: Overcooked, deeds: Sequence[Sequence[str]]) -> list[State]:
    found = [world.initial]
    for joint in deeds:
        found.append(world.advance(found[-1], joint))
    return found


def shown(level: KitchenLevel, rows: Sequence[Row]) -> str:
    return replays({level.name: level}, rows)


# What the data say


def frames(markup: str) -> Iterator[dict[str, tuple[float, float, str]]]:
    """Where everything was before every step and at the end of the only episode, and the markup of what it was."""
    viewed = data(markup)
    (template,) = re.findall(r'<template data-at="looks">(.*?)</template>', markup)
    looks = [inner(look) for look in ElementTree.fromstring(template)]
    parts, spots = viewed["levels"][0]["parts"], list(viewed["levels"][0]["start"])
    for moves in ([], *viewed["episodes"][0][0]["moves"]):
        for part, *spot in moves:
            spots[part] = [*spot, *spots[part][2:]] if len(spot) == 2 else spot
        found = {name: spot for name, spot in zip(parts, spots, strict=True) if spot}
        yield {name: (x, y, looks[look]) for name, (x, y, look) in found.items()}


def inner(group: ElementTree.Element) -> str:
    return "".join(re.sub(r' xmlns(:\w+)?="[^"]*"', "", ElementTree.tostring(child, "unicode")) for child in group)


def drawn(markup: str) -> dict[str, tuple[float, float, str]]:
    """The same for the parts that are to be seen in a picture."""
    markup = markup.replace(' xmlns="http://www.w3.org/2000/svg"', "")
    groups = [
        g for g in ElementTree.fromstring(markup).iter("g") if "data-part" in g.attrib and "display" not in g.attrib
    ]
    return {g.attrib["data-part"]: (*_place(g.attrib["transform"]), inner(g)) for g in groups}


def _place(transform: str) -> tuple[float, float]:
    x, y = re.findall(r"-?[\d.]+", transform)
    return float(x), float(y)


@pytest.mark.slow
@settings(max_examples=20)
@given(kitchen_plays(agents=(1, 3)))
def test_the_frames_are_what_the_world_says_happened(play: Play) -> None:
    world, _, deeds = play
    level = replace(LEVEL, world=world)
    if not deeds:
        return
    markup = shown(level, played(level, deeds))
    for frame, state in zip(frames(markup), states(world, deeds), strict=True):
        assert frame == drawn(kitchen_drawing.draw(world, state).svg())
        assert told(world, frame) == expected(world, state)
    done = data(markup)["episodes"][0][0]["length"] != "failed"
    assert done == world.done(states(world, deeds)[-1])


def told(world: Overcooked, frame: dict[str, tuple[float, float, str]]) -> dict[str, tuple[Xy | None, str]]:
    """What a frame says in words: the square and the title of each part; for what is held, the title alone."""
    titles = {name: re.findall("<title>(.*?)</title>", look)[0] for name, (_, _, look) in frame.items()}
    squares = {name: (int(x // CELL), int(y // CELL)) for name, (x, y, _) in frame.items()}
    return {name: (None if "held" in name else squares[name], title) for name, title in titles.items()}


def expected(world: Overcooked, state: State) -> dict[str, tuple[Xy | None, str]]:
    """What the state says, in the same words."""
    layout, now = world.layout, plain(world, state)
    places = {layout.grid.xy(cell): f"counter-{k}" for k, cell in enumerate(layout.counters)}
    places |= {layout.grid.xy(cell): f"delivery-{d}" for d, cell in enumerate(layout.deliveries)}
    dishes = {at: [", ".join(d) for d in there] for at, there in now.delivered.items() if there}
    found: dict[str, tuple[Xy | None, str]] = {places[at]: (at, ", ".join(there)) for at, there in now.lying.items()}
    found |= {f"agent-{i}": (at, world.agents[i]) for i, at in enumerate(now.people)}
    found |= {f"held-{i}": (None, ", ".join(hand)) for i, hand in enumerate(now.hands) if hand}
    ordered = {at: "; ".join(sorted(there, key=thing)) for at, there in dishes.items()}
    return found | {places[at]: (at, titles) for at, titles in ordered.items()}


# Who sees what


@pytest.mark.slow
@settings(max_examples=20)
@given(kitchen_plays(agents=(1, 3)))
def test_the_fog_is_over_what_the_world_says_is_not_observed(play: Play) -> None:
    world, _, deeds = play
    level = replace(LEVEL, world=world)
    if not deeds:
        return
    markup = shown(level, played(level, deeds))
    viewed, (episode,) = data(markup)["levels"][0], data(markup)["episodes"][0]
    for state, sights, frame in zip(states(world, deeds), episode["sights"], frames(markup), strict=True):
        for agent, sight in zip(world.agents, sights, strict=True):
            outline, hidden = viewed["views"][sight]
            unseen = {viewed["parts"][part] for part in hidden}
            assert unseen == not_observed(world, state, agent)
            assert squares(outline) == foggy(world, state, agent)
            clear = {name: part for name, part in frame.items() if name not in unseen}
            assert clear == drawn(kitchen_drawing.draw(world, state, seen_by=agent).svg())


def not_observed(world: Overcooked, state: State, agent: str) -> set[str]:
    """The parts of which an agent does not know whether they are there."""
    view = world.observe(state, agent)
    people = {i for i, cell in enumerate(view.cells) if cell == UNSEEN}
    assert people == {i for i, hand in enumerate(view.hands) if hand == UNSEEN}
    return {
        *(f"counter-{k}" for k, lying in enumerate(view.on) if lying == UNSEEN),
        *(f"delivery-{d}" for d, dishes in enumerate(view.delivered) if dishes is None),
        *(f"{part}-{i}" for part in ("agent", "held") for i in people),
    }


def foggy(world: Overcooked, state: State, agent: str) -> set[Xy]:
    """The squares of which an agent would not see a second cook, or a thing, if it were there."""
    layout = world.layout
    places = [f"counter-{k}" for k in range(len(layout.counters))]
    places += [f"delivery-{d}" for d in range(len(layout.deliveries))]
    unseen = not_observed(world, state, agent)
    found = {layout.grid.xy(cell) for name, cell in zip(places, layout.places, strict=True) if name in unseen}
    for cell in layout.grid.cells():
        joined = state._replace(cells=(*state.cells, cell), hands=(*state.hands, NOTHING))
        if world.observe(joined, agent).cells[-1] == UNSEEN:
            found.add(layout.grid.xy(cell))
    return found


def squares(outline: str) -> set[Xy]:
    """The squares inside an outline."""
    found = re.findall(r"M(\d+) (\d+)h(\d+)v48H\1z", outline)
    assert "".join(f"M{x} {y}h{width}v48H{x}z" for x, y, width in found) == outline
    runs = [(int(x) // CELL, int(y) // CELL, int(width) // CELL) for x, y, width in found]
    return {(x + n, y) for x, y, length in runs for n in range(length)}


def test_there_is_a_choice_of_eyes_where_not_everything_is_seen() -> None:
    kitchens = shown(LEVEL, played(LEVEL, list(zip(ANA, BEN, strict=True))))
    assert '<fieldset data-at="eyes">' in kitchens
    assert data(kitchens)["episodes"][0][0]["sights"][0] != data(kitchens)["episodes"][0][0]["sights"][4]


def test_a_page_can_show_both_worlds_and_a_map_has_no_fog() -> None:
    garden = parse_level(DKG, Path("garden.txt"))
    base = {"condition": "useful", "subject": "none", "seed": 42, "episode": "garden", "t": 0, "goal": "red"}
    walk = [{**base, "agent": agent, "action": "right"} for agent in ("Ana", "Ben")]
    cooking = played(LEVEL, [("stay", "stay")], "none")
    both = replays({"garden": garden, LEVEL.name: LEVEL}, [*cooking, *walk])
    icons = {level["name"]: {goal[4] for goal in level["goals"]} for level in data(both)["levels"]}
    assert icons == {"garden": {"gem"}, LEVEL.name: {"dish"}}
    alone = replays({"garden": garden}, walk)
    assert data(alone)["episodes"][0][0]["sights"] is None
    assert 'data-at="eyes"' not in alone


# Goals


def test_recipes_are_named_in_words_and_come_in_their_order() -> None:
    viewed = data(shown(LEVEL, played(LEVEL, list(zip(ANA, BEN, strict=True)))))
    assert [goal[:2] for goal in viewed["levels"][0]["goals"]] == [["tomato dish", "T"], ["salad", "TL"]]
    assert viewed["levels"][0]["goals"][0][2] == sprites.FOOD_HUES["tomato"]
    assert viewed["episodes"][0][0]["wants"] == [0, 1]
    assert viewed["episodes"][0][0]["beliefs"][0] == [[750, 250], [750, 250]]


def test_every_recipe_has_a_name_a_label_and_a_colour_of_its_own() -> None:
    goals = level_scene(LEVEL).goals
    assert list(goals) == list(RECIPES)
    for told_apart in zip(*((goal.name, goal.label, goal.colour) for goal in goals.values()), strict=True):
        assert len(set(told_apart)) == len(RECIPES)


def test_a_recipe_that_nobody_knows_is_grey_and_comes_last() -> None:
    rows = played(LEVEL, [("stay", "stay")])
    rows[0] |= {"goal": "Cake"}
    viewed = data(shown(LEVEL, rows))
    assert [goal[0] for goal in viewed["levels"][0]["goals"]] == ["tomato dish", "salad", "Cake"]
    assert viewed["levels"][0]["goals"][2][1:3] == ["C", "#8a8f98"]


@pytest.mark.parametrize("nothing", ["", None])
def test_who_has_no_recipe_wants_nothing(nothing: str | None) -> None:
    rows = played(LEVEL, [("stay", "stay")])
    rows[1] |= {"goal": nothing}
    assert data(shown(LEVEL, rows))["episodes"][0][0]["wants"] == [0, None]


# What is refused, what is kept out, and how large it gets


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda rows: rows.pop(3), "the level has Ana, Ben"),
        (lambda rows: rows.append(dict(rows[0])), "two rows for Ana"),
        (lambda rows: rows[0].update(action="pickup key1"), "no such action as `pickup key1`"),
        (lambda rows: rows[0].update(action=""), "no such action as ``"),
    ],
)
def test_rows_that_do_not_fit_are_refused(spoil: Any, message: str) -> None:
    rows = played(LEVEL, list(zip(ANA, BEN, strict=True)))
    spoil(rows)
    with pytest.raises(InputError, match=message):
        shown(LEVEL, rows)


def report(name: str) -> str:
    """A page in which the same words stand wherever words can come from outside."""
    level = replace(LEVEL, name=name, world=replace(LEVEL.world, agents=(f"{name}1", f"{name}2")))
    rows = played(level, list(zip(ANA, BEN, strict=True)), name)
    for row in rows:
        row |= {"goal": name, "posterior": {name: 1.0}} if "goal" in row else {"words": name, "why": name}
    return page(name, name, [Section(name, shown(level, rows))])


def test_hostile_words_change_no_tag_of_the_viewer() -> None:
    tame, wild = Outline(report("tame")).tags, Outline(report(HOSTILE)).tags
    assert [tag for tag, _ in tame].count("script") == 2
    assert wild == tame
    assert "\u202e" not in report("a\u202eb")


def test_the_same_rows_give_the_same_bytes() -> None:
    rows = played(LEVEL, list(zip(ANA, BEN, strict=True)))
    assert shown(LEVEL, rows) == shown(LEVEL, rows)


@pytest.mark.slow
def test_four_long_episodes_of_a_kitchen_stay_small() -> None:
    rows_of_squares = ("----t----", "-   -   -", "-   -   -", "- 1 - 2 -", "-   D   -", "-   -   -", "/p-o-l-*-")
    level = replace(LEVEL, world=kitchen(*rows_of_squares, recipes=("Salad", "OnionSalad")))
    walk = [("right", "left"), ("right", "left"), ("left", "right"), ("left", "up"), ("up", "down")] * 20
    rows = [row for subject in ("none", "random", "oracle", "protom") for row in played(level, walk, subject)]
    for row in rows:
        if row["agent"] == "facilitator":
            price = {"changes": row["t"] / 16}
            row["prices"] = [{"message": f"Ana: pass it, {m}", "saves": m + row["t"] / 7, **price} for m in range(12)]
        else:
            row["posterior"] = {recipe: (row["t"] + i) / 999 for i, recipe in enumerate(RECIPES)}
    assert len(shown(level, rows)) < 2_500_000 / 21


def test_squares_are_numbered_as_messages_name_them() -> None:
    picture = level_scene(LEVEL).picture
    numbers = re.findall(r'<text x="(-?[\d.]+)" y="(-?[\d.]+)"[^>]*>(\d)</text>', picture)
    above = [int(n) for _, y, n in numbers if float(y) < 0]
    beside = [int(n) for x, _, n in numbers if float(x) < 0]
    assert (above, beside) == ([*range(7)], [*range(4)])


# In a browser


@in_browser
@pytest.mark.parametrize("eye", ["", "Ana", "Ben"])
@pytest.mark.parametrize("t", [0, 2, 5, 8])
def test_a_browser_shows_what_somebody_sees_at_the_moment_of_the_address(
    eye: str, t: int, tab: Page, tmp_path: Path
) -> None:
    deeds = list(zip(ANA, BEN, strict=True))
    markup = page("x", "", [Section("x", shown(LEVEL, played(LEVEL, deeds)))])
    dom = browsed(tab, markup, f"level=two+rooms&who=protom&t={t}&by={eye}", tmp_path)
    state = states(LEVEL.world, deeds)[t]
    groups = re.findall(r'<g data-part="([^"]*)"[^>]*display="inline"[^>]*><title>(.*?)</title>', dom)
    picture = kitchen_drawing.draw(LEVEL.world, state, seen_by=eye or None).svg()
    assert dict(groups) == {name: title for name, (_, title) in told(LEVEL.world, drawn(picture)).items()}
    outline = re.findall(r'data-fog=""[^>]* d="([^"]*)"', dom)
    assert [squares(d) for d in outline] == [foggy(LEVEL.world, state, eye) if eye else set()]


@in_browser
@pytest.mark.parametrize("t", [0, 2, 5])
def test_a_browser_lists_what_each_does_not_see(t: int, tab: Page, tmp_path: Path) -> None:
    deeds = list(zip(ANA, BEN, strict=True))
    markup = page("x", "", [Section("x", shown(LEVEL, played(LEVEL, deeds)))])
    dom = browsed(tab, markup, f"level=two+rooms&t={t}", tmp_path)
    listed = dom.partition("What each does not see now</h3>")[2].partition("</ul>")[0]
    state = states(LEVEL.world, deeds)[t]
    for agent in LEVEL.world.agents:
        (there,) = re.findall(f"<span>{agent}: (.*?)</span>", listed)
        things = [] if there == "nothing" else re.sub(r" \(\d+\)", "", there).split(", ")
        everything, seen = (
            {name: title for name, (_, title) in told(LEVEL.world, drawn(picture)).items() if title}
            for picture in (
                kitchen_drawing.draw(LEVEL.world, state).svg(),
                kitchen_drawing.draw(LEVEL.world, state, seen_by=agent).svg(),
            )
        )
        hidden = ", ".join(title for name, title in everything.items() if name not in seen)
        assert set(", ".join(things).split(", ")) == set(hidden.split(", "))
        assert f'aria-pressed="false">Look as {agent}</button>' in listed


@in_browser
def test_a_browser_shows_hostile_words_as_words(tab: Page, tmp_path: Path) -> None:
    tame, wild = (Outline(browsed(tab, report(name), "", tmp_path)).tags for name in ("tame", HOSTILE))
    assert ("fieldset", ["data-at"]) in tame
    assert wild == tame
