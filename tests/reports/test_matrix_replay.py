"""The viewer of matrix worlds shows what happened, takes little space, and shows hostile words as words."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matrix_worlds import PAPER, ROCK, met, play, random_steps, scene, world_of
from otherminds.errors import InputError
from otherminds.reports.matrix_replay import frame, matrix_replay
from otherminds.reports.page import Html, Section, page
from otherminds.worlds.avatar_drawing import DEAD, FROZEN, READY
from otherminds.worlds.in_the_matrix.drawing import matrix_scene
from otherminds.worlds.in_the_matrix.map_files import in_the_matrix
from otherminds.worlds.in_the_matrix.rules import FREE, NOWHERE, MatrixState
from otherminds.worlds.in_the_matrix.world import InTheMatrix
from viewer import HOSTILE, Outline, account, browsed, data, in_browser

if TYPE_CHECKING:
    from playwright.sync_api import Page

CLOSET = """
WWWWWWW
Wn a nW
W r a W
Wa p sW
Wn   nW
WWWWWWW
"""
DIRECTIONS = ("north", "east", "south", "west")
FEW = settings(max_examples=12, deadline=None)
MET = {
    "t": 2,
    "partner": 1,
    "own": [1, 6, 1],
    "theirs": [6, 1, 1],
    "reward": 3.9,
    "expected": [0.8, 0.1, 0.1],
    "hypotheses": [["always rock", 0.75], ["anything", 0.25]],
}

Row = dict[str, Any]


def small(players: int = 3) -> InTheMatrix:
    return world_of(CLOSET, players=players, respawn=18)


def episode(world: InTheMatrix, seed: int, steps: int) -> list[MatrixState]:
    """What eager hands make of a world; resources come back with new kinds if the episode starts over."""
    rng = np.random.default_rng(seed)
    return [state for state, _, _ in random_steps(world, rng, steps + 1)]


def markup(world: InTheMatrix, states: list[MatrixState], *thoughts: Mapping[str, Any], title: str = "x") -> Html:
    """The viewer, its frames having been written as JSON and read again."""
    frames = json.loads(json.dumps([frame(state) for state in states]))
    return matrix_replay(world, states[0].kinds, frames, thoughts, title)


def shown(world: InTheMatrix, *thoughts: Mapping[str, Any], steps: int = 4) -> Row:
    return data(markup(world, episode(world, 0, steps), *thoughts))


# The picture


class Spot(NamedTuple):
    """Where a part of the picture is, what it is called, and where its boxes are."""

    x: int
    y: int
    title: str
    boxes: frozenset[tuple[int, int]]


def looks(text: str) -> list[str]:
    """The looks in the page, as the script finds them."""
    (drawn,) = re.findall(r'<template data-at="looks"><svg>(.*?)</svg></template>', text, re.DOTALL)
    found: list[str] = re.findall(r"<g><title>.*?(?=<g><title>|$)", drawn, re.DOTALL)
    return found


def moments(text: str) -> Iterator[dict[str, Spot]]:
    """Every picture in turn, put together from the differences."""
    viewed, drawn = data(text), looks(text)
    (level,), ((film,),) = viewed["levels"], viewed["episodes"]
    spots = [tuple(spot) if spot else None for spot in level["start"]]
    for changes in [[], *film["moves"]]:
        for part, *place in changes:
            before = spots[part]
            spots[part] = (*place, *(before or ())[len(place) :]) if place else None
        there = ((name, at) for name, at in zip(level["parts"], spots, strict=True) if at)
        yield {name: spot_of(int(x // 48), int(y // 48), drawn[look]) for name, (x, y, look) in there}


def spot_of(x: int, y: int, drawn: str) -> Spot:
    (title,) = re.findall("<title>(.*?)</title>", drawn)
    corners = re.findall(r'<rect x="(.*?)" y="(.*?)" width="46"', drawn)
    cells = frozenset((x + round((float(a) + 23) / 48), y + round((float(b) + 23) / 48)) for a, b in corners)
    return Spot(x, y, title, cells)


@pytest.mark.slow
@FEW
@given(st.integers(0, 10_000))
def test_differences_add_up_to_every_state(seed: int) -> None:
    world = small()
    states, grid = episode(world, seed, 40), world.rules.field.grid
    kinds = {k: world.rules.resources[kind] for k, kind in enumerate(states[0].kinds)}
    pictures = list(moments(markup(world, states)))
    assert len(pictures) == len(states)
    for picture, state in zip(pictures, states, strict=True):
        players = {int(name[6:]): spot for name, spot in picture.items() if name.startswith("agent-")}
        assert {i: (spot.x, spot.y) for i, spot in players.items()} == {
            i: grid.xy(cell) for i, cell in enumerate(state.cells) if cell != NOWHERE
        }
        for i, spot in players.items():
            ready = "ready" if state.inventories[i] != world.rules.empty else ""
            look = "frozen" if state.clocks[i] != FREE else ready
            assert spot.title == f"{world.agents[i]}, facing {DIRECTIONS[state.facings[i]]}" + f", {look}" * bool(look)
        resources = {int(name[9:]): spot for name, spot in picture.items() if name.startswith("resource-")}
        assert {k: (spot.x, spot.y, spot.title) for k, spot in resources.items()} == {
            k: (*grid.xy(cell), kinds[k]) for k, cell in enumerate(world.rules.sites) if state.shown >> k & 1
        }
        beams = {int(name[5:]): spot.boxes for name, spot in picture.items() if name.startswith("beam-")}
        expected = {i: {grid.xy(cell) for cell in cells} for i, cells in matrix_scene(world, state).beams.items()}
        assert beams == expected


@pytest.mark.slow
@FEW
@given(st.integers(0, 10_000))
def test_what_everybody_holds_adds_up_to_every_state(seed: int) -> None:
    world = small()
    states = episode(world, seed, 40)
    viewed, latest = data(markup(world, states)), dict[int, list[Any]]()
    for t, state in enumerate(states):
        for player, _, note in (event for event in viewed["episodes"][0][0]["notes"] if event[1] == t):
            latest[player] = viewed["notes"][note]
        assert [latest[i][1:] for i in range(3)] == [list(held) for held in state.inventories]
        assert [latest[i][0] == DEAD for i in range(3)] == [cell == NOWHERE for cell in state.cells]
        assert {how for how, *_ in latest.values()} <= {"", READY, FROZEN, DEAD}


def test_a_meeting_is_seen_as_a_beam_and_two_who_are_frozen() -> None:
    world = world_of()
    before = scene(world, "3 3 >", "5 3 <", held=(PAPER, ROCK))
    start, after = moments(markup(world, [before, met(world)]))
    assert "beam-0" not in start
    assert (4, 3) in after["beam-0"].boxes
    assert [after[f"agent-{i}"].title.split(", ")[-1] for i in range(2)] == ["frozen", "frozen"]


def test_the_page_shows_the_start_before_its_script_runs() -> None:
    world = small()
    states = episode(world, 3, 5)
    text, grid = markup(world, states), world.rules.field.grid
    for i, cell in enumerate(states[0].cells):
        x, y = grid.xy(cell)
        assert f'data-part="agent-{i}" transform="translate({48 * x + 24} {48 * y + 24})">' in text
    assert all(f'data-part="{name}"' in text for name in data(text)["levels"][0]["parts"])


def test_who_does_not_move_takes_no_space() -> None:
    world = world_of()
    state = scene(world, "3 3 >", "5 3 <")
    viewed = data(markup(world, [state, play(world, state), play(world, state, "forward")]))
    (film,) = viewed["episodes"][0]
    assert film["moves"][0] == []
    assert film["moves"][1] == [[viewed["levels"][0]["parts"].index("agent-0"), 4.5 * 48, 3.5 * 48]]
    assert [t for _, t, _ in film["notes"]] == [0, 0]


@pytest.mark.slow
@pytest.mark.parametrize(("substrate", "most"), [("rws_repeated", 60_000), ("rws_arena", 150_000)])
def test_long_episodes_stay_small(substrate: str, most: int) -> None:
    world = in_the_matrix(substrate)
    thoughts = [{**MET, "t": t, "hypotheses": [[f"{t // 300} {'x' * 200}", 0.2]] * 4} for t in range(9, 300, 30)]
    text = markup(world, episode(world, 1, 300), *thoughts)
    assert len(text.partition('data-at="data">')[2]) + sum(map(len, looks(text))) < most


# What was thought


def test_a_thought_is_shown_before_its_meeting() -> None:
    viewed = shown(small(), MET, {**MET, "t": 4, "partner": 2})
    heading, when, held, _, expected, *_ = account(viewed, 0)
    assert heading == ["heading", "What player_0 thinks of player_1"]
    assert when == ["quiet", "For the next meeting, at step 2"]
    assert held == ["bars", "hypotheses", [("always rock", 0.75), ("anything", 0.25)], 0, 1]
    assert expected == ["bars", "expected", [("rock", 0.8), ("paper", 0.1), ("scissors", 0.1)], 0, 1]
    assert account(viewed, 2)[0] == ["heading", "What player_0 thinks of player_2"]
    assert account(viewed, 4)[1] == ["quiet", "Before the last meeting, at step 4"]


HELD = "Step 2: player_0 held rock 1 paper 6 scissors 1, player_1 held rock 6 paper 1 scissors 1"


@pytest.mark.parametrize(
    ("changed", "told", "right"),
    [
        ({}, f"{HELD}, paid +3.9; expected rock (80\u00a0%): right.", True),
        ({"expected": [0.1, 0.7, 0.2], "reward": -2}, f"{HELD}, paid −2.0; expected paper (70\u00a0%): wrong.", False),
        ({"expected": [0.4, 0.4, 0.2]}, f"{HELD}, paid +3.9; nothing in particular was expected.", None),
        ({"expected": [1 / 3, 1 / 3, 1 - 2 / 3]}, f"{HELD}, paid +3.9; nothing in particular was expected.", None),
        ({"expected": None}, f"{HELD}, paid +3.9.", None),
        (
            {"theirs": [2, 2, 1]},
            f"{HELD.replace('rock 6 paper 1', 'rock 2 paper 2')}, paid +3.9; expected rock (80\u00a0%).",
            None,
        ),
        ({"reward": 0.0, "expected": None}, f"{HELD}, paid 0.0.", None),
        (
            {"theirs": None, "reward": None, "expected": None},
            "Step 2: player_0 held rock 1 paper 6 scissors 1.",
            None,
        ),
    ],
)
def test_a_meeting_is_told_in_one_sentence(changed: Row, told: str, right: bool | None) -> None:
    viewed = shown(small(), {**MET, **changed})
    assert account(viewed, 2)[-1] == ["text", told]
    assert ["wrong" in mark for mark in viewed["episodes"][0][0]["marks"]] == [right is False]


def test_fields_may_be_missing() -> None:
    found = account(shown(small(), {"t": 2}), 2)
    assert found[-1] == ["text", "Step 2: a meeting with somebody."]
    assert found[:3] == [
        ["heading", "What player_0 thinks of somebody"],
        ["quiet", "Before the last meeting, at step 2: no hypothesis is recorded"],
        ["bars", "hypotheses", [], 0, 1],
    ]
    assert "player_1" in account(shown(small(2), {"t": 2, "partner": None}), 2)[0][1]


@pytest.mark.parametrize(
    ("values", "scale"),
    [((0.2, 0.8), [0, 1]), ((), [0, 1]), ((-0.1, 0.3), [-1, 1]), ((2.5, 0.1), [0, 2.5]), ((-3, 2.5), [-3, 3])],
)
def test_bars_have_room_for_every_value(values: tuple[float, ...], scale: list[float]) -> None:
    rows = [{**MET, "hypotheses": [["a", value]]} for value in values]
    viewed = shown(small(), *rows) if rows else shown(small(), {**MET, "hypotheses": None})
    assert account(viewed, 0)[2][-2:] == scale


def test_an_endless_hypothesis_is_cut() -> None:
    viewed = shown(small(), {**MET, "hypotheses": [["x" * 100_000, 1.0]]})
    assert max(len(word) for word in viewed["words"]) == 600


# What comes from outside


def spoilt(**changed: Any) -> list[Any]:
    """Frames of which the second one is wrong."""
    world = small()
    first, second, *_ = (frame(state) for state in episode(world, 0, 2))
    fields = ("cells", "facings", "inventories", "clocks", "cooldowns", "shown")
    return [first, [changed.get(name, value) for name, value in zip(fields, second, strict=True)]]


@pytest.mark.parametrize(
    ("frames", "message"),
    [
        ([], "one frame at least"),
        ([[]], "^frame 0: cells: "),
        (["frames"], "^frame 0: "),
        ([None], "^frame 0: "),
        ([[[1], [1]]], "^frame 0: inventories: "),
        ([[*spoilt()[0], 7]], "^frame 0: "),
        (spoilt(cells=[0, 9, 10]), "frame 1: cells: somebody stands where there is no floor"),
        (spoilt(cells=[10**30, 9, 10]), "frame 1: cells: somebody stands where there is no floor"),
        (spoilt(cells=[9, 10]), "frame 1: cells: the world has 3 players"),
        (spoilt(cells=[9.5, 10, 11]), r"frame 1: cells\.0: Input should be a valid integer"),
        (spoilt(cells=[-2, 10, 11]), r"frame 1: cells\.0: "),
        (spoilt(facings=[0, 1, 4]), r"frame 1: facings\.2: "),
        (spoilt(facings=[True, 1, 1]), r"frame 1: facings\.0: "),
        (spoilt(inventories=[[1, 1, 1], [1, 1, 1], [1, 1]]), "frame 1: inventories: the world has 3 kinds"),
        (spoilt(inventories=[[1, 1, 1], [1, 1, 1], [1, 1, -1]]), r"frame 1: inventories\.2\.2: "),
        (spoilt(clocks=["1", 1, 1]), r"frame 1: clocks\.0: "),
        (spoilt(cooldowns=[0]), "frame 1: cooldowns: the world has 3 players"),
        (spoilt(shown=1 << 6), "frame 1: shown: the world has 6 sites"),
        (spoilt(shown=-1), "frame 1: shown: "),
    ],
)
def test_frames_that_do_not_fit_are_refused(frames: list[Any], message: str) -> None:
    world = small()
    with pytest.raises(InputError, match=message):
        matrix_replay(world, [0] * len(world.rules.sites), frames, [], "x")


@pytest.mark.parametrize("kinds", [[0], [0] * 5 + [3], [0] * 7, []])
def test_kinds_that_do_not_fit_are_refused(kinds: list[int]) -> None:
    world = small()
    with pytest.raises(InputError, match="kinds: must be 6 numbers from 0 to 2"):
        matrix_replay(world, kinds, spoilt(), [], "x")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"t": 5}, "meeting 2: t: must be from 2 to 4"),
        ({"t": 1}, "meeting 2: t: must be from 2 to 4"),
        ({"t": None}, "meeting 2: t: "),
        ({"partner": 0}, "meeting 2: partner: must be from 1 to 2"),
        ({"partner": 3}, "meeting 2: partner: must be from 1 to 2"),
        ({"own": [1, 1]}, "meeting 2: own: the world has 3 kinds"),
        ({"theirs": []}, "meeting 2: theirs: the world has 3 kinds"),
        ({"expected": [0.5, 0.5]}, "meeting 2: expected: the world has 3 kinds"),
        ({"expected": [2.0, -1.0, 0.0]}, r"meeting 2: expected\.0: "),
        ({"reward": float("nan")}, "meeting 2: reward: "),
        ({"hypotheses": [["a", float("inf")]]}, r"meeting 2: hypotheses\.0\.1: "),
        ({"hypotheses": [[1, 0.5]]}, r"meeting 2: hypotheses\.0\.0: "),
        ({"hypotheses": "always rock"}, "meeting 2: hypotheses: "),
    ],
)
def test_thoughts_that_do_not_fit_are_refused(changed: Row, message: str) -> None:
    with pytest.raises(InputError, match=message):
        shown(small(), MET, {**MET, **changed})


# Hostile words


def report(word: str) -> str:
    """A page in which the same words stand wherever words can come from outside."""
    world = small()
    rules = replace(world.rules, resources=(f"{word}1", f"{word}2", f"{word}3"))
    wild = replace(world, rules=rules, agents=(f"{word}1", f"{word}2", f"{word}3"))
    thoughts = {**MET, "hypotheses": [[word, 0.5], [f"{word} {word}", 0.25], [word, 0.125]]}
    return page(word, word, [Section(word, markup(wild, episode(wild, 0, 4), thoughts, title=word))])


def test_hostile_words_change_no_tag_of_the_viewer() -> None:
    tame, wild = Outline(report("tame")).tags, Outline(report(HOSTILE)).tags
    assert [tag for tag, _ in tame].count("script") == 2
    assert wild == tame


def test_hostile_words_are_kept_as_words() -> None:
    viewed = data(report(HOSTILE))
    kept = viewed["words"]
    assert any(word.startswith("Step 2: </script><script>alert(1)") for word in kept)
    assert not any(c in word for word in kept for c in "\x1b\u2028")


def test_the_policy_allows_exactly_the_script_of_the_viewer() -> None:
    viewer = markup(small(), episode(small(), 0, 2))
    text = page("x", "", [Section("x", viewer), Section("y", viewer)])
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in text
    assert "innerHTML" not in script
    assert "eval(" not in script


def test_the_same_episode_gives_the_same_bytes() -> None:
    world = small()
    assert markup(world, episode(world, 5, 30), MET) == markup(world, episode(world, 5, 30), MET)


# In a browser

PRESSES = """
for (const name of NAMES) {
  const button = document.querySelector(`button[data-at="${name}"]`);
  if (button) button.click();
  else document.querySelector("input").dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
}
"""


def pressed(tab: Page, text: str, names: list[str], folder: Path) -> str:
    """The page after buttons or keys have been pressed, by a script that its policy would not allow."""
    free = re.sub(r'<meta http-equiv="Content-Security-Policy".*?>', "", text)
    script = PRESSES.replace("NAMES", json.dumps(names))
    return browsed(tab, free.replace("</body>", f"<script>{script}</script></body>"), "", folder)


def beside(dom: str) -> str:
    """The account beside the map."""
    return dom.partition('<div class="account"')[2].partition("<template")[0]


@in_browser
def test_a_browser_shows_the_start_under_the_policy_of_the_page(tab: Page, tmp_path: Path) -> None:
    world = small()
    dom = browsed(tab, page("x", "", [Section("x", markup(world, episode(world, 0, 4), MET))]), "", tmp_path)
    assert ">step 0 of 4</span>" in dom
    assert "What player_0 thinks of player_1" in beside(dom)
    assert "For the next meeting, at step 2" in beside(dom)
    assert "There was none yet." in beside(dom)
    assert re.findall(r'class="text" title="(.*?)"', beside(dom)) == [
        "always rock",
        "anything",
        "rock",
        "paper",
        "scissors",
    ]


@in_browser
@pytest.mark.parametrize(
    ("names", "t"),
    [
        (["later"], 2),
        (["later", "later"], 4),
        (["later", "later", "earlier"], 2),
        (["next"], 1),
        (["back"], 0),
        (["PageDown", "ArrowRight"], 3),
        (["PageDown", "ArrowLeft"], 1),
        (["next", "next", "next", "PageUp", "x"], 2),
        (["next", " "], 4),
        (["next", " ", " "], 1),
    ],
)
def test_a_browser_goes_to_steps_and_meetings(names: list[str], t: int, tab: Page, tmp_path: Path) -> None:
    world, second = small(), {**MET, "t": 4, "partner": 2, "hypotheses": [["never rock", -0.5]]}
    states = episode(world, 0, 4)
    dom = pressed(tab, page("x", "", [Section("x", markup(world, states, MET, second))]), names, tmp_path)
    assert f">step {t} of 4</span>" in dom
    assert ("never rock" in beside(dom)) == (t >= 2)
    assert ("Before the last meeting, at step 4" in beside(dom)) == (t == 4)
    assert ("Step 2: player_0 held" in beside(dom)) == (2 <= t < 4)
    places = re.findall(r'data-part="agent-(\d)"[^>]*style="transform: translate\((\d+)px, (\d+)px\);"', dom)
    found = {int(i): (int(x) // 48, int(y) // 48) for i, x, y in places}
    assert found == {i: world.rules.field.grid.xy(cell) for i, cell in enumerate(states[t].cells)}


@in_browser
@pytest.mark.parametrize(
    ("moment", "still", "t"), [("", False, 0), ("play=1", False, 4), ("play=0", False, 0), ("play=1", True, 0)]
)
def test_an_episode_plays_at_once_if_the_address_says_so(
    moment: str, still: bool, t: int, tab: Page, tmp_path: Path
) -> None:
    text = page("x", "", [Section("x", markup(small(), episode(small(), 0, 4), MET))])
    assert f">step {t} of 4</span>" in browsed(tab, text, moment, tmp_path, still=still)


@in_browser
def test_only_the_first_episode_of_a_page_plays(tab: Page, tmp_path: Path) -> None:
    viewer = markup(small(), episode(small(), 0, 4), MET)
    dom = browsed(tab, page("x", "", [Section("x", viewer), Section("y", viewer)]), "play=1", tmp_path)
    assert re.findall(r">step (\d) of 4</span>", dom) == ["4", "0"]


@in_browser
def test_a_browser_shows_hostile_words_as_words(tab: Page, tmp_path: Path) -> None:
    tame, wild = (Outline(pressed(tab, report(word), ["later"], tmp_path)).tags for word in ("tame", HOSTILE))
    assert ("span", ["class", "data-at"]) in tame
    assert wild == tame
