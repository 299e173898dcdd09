"""The episode viewer shows what happened, takes little space, and shows hostile words as words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from otherminds.errors import InputError
from otherminds.reports.level_replay import replays
from otherminds.reports.page import Section, page
from otherminds.reports.replay import SPEEDS
from otherminds.worlds import sprites
from otherminds.worlds.doors_keys_gems.drawing import moving_parts
from otherminds.worlds.doors_keys_gems.level_files import Level, parse_level
from otherminds.worlds.doors_keys_gems.rules import DoorsKeysGems, State
from viewer import HOSTILE, Outline, account, browsed, data, in_browser

if TYPE_CHECKING:
    from playwright.sync_api import Page

LEVEL = """\
name: corridor
agents: Ana, Ben
goals: red, blue
class: useful

## ## ## ## ## ##
## a1 kr dr gr ##
## .. ## ## ## ##
## a2 .. gb .. ##
## ## ## ## ## ##
"""
ANA = ("right", "pickup key1", "unlock door1 with key1", "right", "right", "pickup gem1")
BEN = ("right", "right", "pickup gem2", "stay", "stay", "stay")
MESSAGE = "Ana: unlock the red door for Ben"

Row = dict[str, Any]


def placements(world: DoorsKeysGems, state: State) -> dict[str, sprites.Place | None]:
    return {part.name: part.place for part in moving_parts(world, state)}


@pytest.fixture
def level() -> Level:
    return parse_level(LEVEL, Path("level.txt"))


def played(level: Level, subject: str = "protom", **more: Any) -> list[Row]:
    """An episode in which one message is said at step 1 and carried out at step 3."""
    base = {"condition": "useful", "subject": subject, "seed": 42, "episode": level.name, **more}
    rows: list[Row] = []
    for t, acts in enumerate(zip(ANA, BEN, strict=True)):
        for agent, act, goal in zip(level.world.agents, acts, ("red", "blue"), strict=True):
            row = {**base, "t": t, "agent": agent, "action": act, "goal": goal}
            if subject != "none":
                row |= {"posterior": {"blue": 0.25, "red": 0.75}, "p_true": 0.75}
            rows.append(row)
        rows.append({**base, "t": t, "agent": "facilitator", "action": "", "ms": 1.0, "why": "nothing helps"})
    said, done = rows[5], rows[11]
    worse = {"message": "Ben: do something else", "saves": -1.0, "changes": 0.0}
    said |= {"action": MESSAGE, "words": "Ana, please.", "why": ""}
    said["prices"] = [worse, {"message": MESSAGE, "saves": 3.2, "changes": 0.5}]
    done["status"] = "completed"
    return rows


def shown(level: Level, rows: Sequence[Row]) -> dict[str, Any]:
    return data(replays({level.name: level}, rows))


def states(world: DoorsKeysGems) -> list[State]:
    found = [world.initial]
    for acts in zip(ANA, BEN, strict=True):
        joint = {agent: world.vocabulary[act] for agent, act in zip(world.agents, acts, strict=True)}
        found.append(world.step(found[-1], joint))
    return found


@pytest.mark.slow
def test_the_frames_are_what_the_world_says_happened(level: Level) -> None:
    viewed = shown(level, played(level))
    parts, places = viewed["levels"][0]["parts"], list(viewed["levels"][0]["start"])
    (episode,) = viewed["episodes"][0]
    assert len(episode["moves"]) == len(ANA)
    for moves, state in zip(episode["moves"], states(level.world)[1:], strict=True):
        for part, *place in moves:
            places[part] = place or None
        found = {name: at and tuple(at[:2]) for name, at in zip(parts, places, strict=True)}
        assert found == placements(level.world, state)
    assert episode["length"] == "6 steps"


def test_an_episode_that_runs_out_of_time_is_not_done(level: Level) -> None:
    rows = [row for row in played(level) if row["t"] < 4]
    assert shown(level, rows)["episodes"][0][0]["length"] == "failed"


def test_beliefs_are_in_thousandths_in_the_order_of_the_gems(level: Level) -> None:
    viewed = shown(level, played(level))
    assert [goal[0] for goal in viewed["levels"][0]["goals"]] == ["red gem", "blue gem"]
    assert viewed["episodes"][0][0]["beliefs"][0] == [[750, 250], [750, 250]]
    assert viewed["episodes"][0][0]["wants"] == [0, 1]


def test_none_of_these_is_believed_last_and_in_grey_and_nobodys_wish(level: Level) -> None:
    rows = [
        row | {"posterior": {"none of these": 0.1, "blue": 0.2, "red": 0.7}} if "posterior" in row else row
        for row in played(level)
    ]
    viewed = shown(level, rows)
    assert [goal[0] for goal in viewed["levels"][0]["goals"]] == ["red gem", "blue gem", "none of these"]
    *_, (_, label, colour, _, icon) = viewed["levels"][0]["goals"]
    assert (label, colour, icon) == ("?", sprites.GREY, "none")
    assert viewed["episodes"][0][0]["beliefs"][0][0] == [700, 200, 100]
    assert viewed["episodes"][0][0]["wants"] == [0, 1]


@pytest.mark.parametrize(("nats", "words"), [(4.13, "Ana: right (surprising: 4.1 nats)"), (2.9, "Ana: right")])
def test_surprising_steps_are_called_so(level: Level, nats: float, words: str) -> None:
    rows = played(level)
    rows[0]["surprise"] = nats
    viewed = shown(level, rows)
    assert account(viewed, 0)[1] == ["people", [(0, words), (1, "Ben: right")]]


def test_messages_that_are_under_way_together_end_on_their_own(level: Level) -> None:
    rows = played(level)
    other = "Ben: unlock the red door for Ana"
    rows[8] |= {"action": other, "words": "Ben, please.", "why": ""}
    rows[11] |= {"status": "completed", "statuses": {MESSAGE: "running", other: "completed"}}
    rows[14] |= {"status": "ignored", "statuses": {MESSAGE: "ignored"}}
    marks = [mark[2:4] for mark in shown(level, rows)["episodes"][0][0]["marks"]]
    assert marks == [[4, "ignored"], [3, "completed"]]


def test_a_facilitator_that_infers_nothing_has_no_beliefs(level: Level) -> None:
    assert shown(level, played(level, "none"))["episodes"][0][0]["beliefs"] is None


def test_what_was_said_and_what_became_of_it(level: Level) -> None:
    viewed = shown(level, played(level))
    ((t, title, end, status, _),) = viewed["episodes"][0][0]["marks"]
    assert (t, viewed["words"][title], end, status) == (1, f"Step 1: {MESSAGE}", 3, "completed")
    assert ["text", "Because nothing helps."] in account(viewed, 0)
    captions = account(viewed, 1)
    fate = ["quiet", "It was expected to save 3.2 steps and was carried out at step 3."]
    at = captions.index(["heading", "The facilitator says"])
    assert captions[at + 1 : at + 4] == [["quote", f"{MESSAGE}."], ["text", "Ana, please."], fate]
    assert ["quiet", f"Step 1: {MESSAGE}. {fate[1]}"] in account(viewed, 3)
    assert not any(MESSAGE in str(caption) for caption in account(viewed, 4))


@pytest.mark.parametrize("end", [2, 4])
def test_a_message_ends_when_it_is_no_longer_running(level: Level, end: int) -> None:
    rows = played(level)
    for row in rows:
        if row["agent"] == "facilitator" and 1 < row["t"] <= end:
            row["status"] = "ignored" if row["t"] == end else "running"
    ((_, _, *fate),) = shown(level, rows)["episodes"][0][0]["marks"]
    assert fate[:2] == [end, "ignored"]


def test_a_message_without_an_end_was_under_way(level: Level) -> None:
    rows = [{k: v for k, v in row.items() if k != "status"} for row in played(level)]
    ((_, _, *fate),) = shown(level, rows)["episodes"][0][0]["marks"]
    assert fate[:2] == [len(ANA), "running"]


def test_candidate_messages_are_listed_best_first(level: Level) -> None:
    viewed = shown(level, played(level))
    assert account(viewed, 1)[-1] == ["table", [(MESSAGE, 3.2, 0.5), ("Ben: do something else", -1.0, 0.0)], 0]


@pytest.mark.slow
def test_levels_are_grouped_by_class_and_facilitators_ordered(level: Level) -> None:
    classes = ("necessary", "useful", "not_needed", "odd")
    levels = {name: replace(level, name=name, certificate={"class": name}) for name in classes}
    subjects = ("protom", "zeta", "none")
    rows = [row for one in levels.values() for subject in subjects for row in played(one, subject)]
    markup = replays(levels, rows)
    groups = re.findall(r'<optgroup label="(.*?)"><option value="\d">(.*?)</option>', markup)
    assert groups == [
        ("Help not needed", "not_needed"),
        ("Help useful", "useful"),
        ("Help necessary", "necessary"),
        ("Other levels", "odd"),
    ]
    assert [key for key, _ in data(markup)["subjects"]] == ["none", "protom", "zeta"]


def test_held_out_and_unknown_levels_are_left_out_and_the_lowest_seed_is_shown(level: Level) -> None:
    late = [{**row, "action": row["action"] if row["agent"] == "facilitator" else "stay"} for row in played(level)]
    rows = [
        *[{**row, "seed": 43} for row in late],
        *played(level),
        *played(level, "oracle", condition="heldout/useful"),
        *played(replace(level, name="elsewhere")),
    ]
    viewed = shown(level, rows)
    assert [key for key, _ in viewed["subjects"]] == ["protom"]
    assert viewed["episodes"][0][0]["length"] == "6 steps"


def test_no_episode_is_said_in_words(level: Level) -> None:
    assert replays({level.name: level}, []) == "<p>There is no episode to show.</p>"


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda rows: rows.pop(3), "the level has Ana, Ben"),
        (lambda rows: rows.append(dict(rows[0])), "two rows for Ana"),
        (lambda rows: rows[0].update(action="fly"), "no such action as `fly`"),
        (lambda rows: rows[0].update(t=10**9), "do not count up from 0"),
        (lambda rows: rows[0].update(t=-1), "do not count up from 0"),
        (lambda rows: rows[0].update(agent="Eve"), "the level has Ana, Ben"),
    ],
)
def test_rows_that_do_not_fit_are_refused(level: Level, spoil: Any, message: str) -> None:
    rows = played(level)
    spoil(rows)
    with pytest.raises(InputError, match=message):
        replays({level.name: level}, rows)


def renamed(level: Level, name: str) -> Level:
    """The level with another name for itself and everybody in it."""
    world = replace(level.world, agents=(f"{name}1", f"{name}2"))
    return replace(level, name=name, world=world, certificate={"class": "useful"})


def report(name: str) -> str:
    """A page in which the same words stand wherever words can come from outside."""
    level = renamed(parse_level(LEVEL, Path("level.txt")), name)
    rows = played(level, subject=name)
    for row in rows:
        row |= {"goal": name} if "goal" in row else {"words": name, "why": name}
        row |= {"posterior": {name: 1.0}} if "posterior" in row else {}
        row |= {"action": name} if row["action"] == MESSAGE else {}
        row |= {"prices": [{"message": name, "saves": float("inf"), "changes": 0.5}]} if "prices" in row else {}
    return page(name, name, [Section(name, replays({level.name: level}, rows))])


def test_hostile_words_change_no_tag_of_the_viewer() -> None:
    tame, wild = Outline(report("tame")).tags, Outline(report(HOSTILE)).tags
    assert [tag for tag, _ in tame].count("script") == 2
    assert wild == tame


def test_hostile_words_are_kept_as_words() -> None:
    kept = data(report(HOSTILE))["words"]
    assert any("</script><script>alert(1)" in word for word in kept if isinstance(word, str))
    assert not any(c in word for word in kept if isinstance(word, str) for c in "\x1b\u2028")


def test_the_same_rows_give_the_same_bytes(level: Level) -> None:
    levels = {level.name: level}
    assert replays(levels, played(level)) == replays(levels, played(level))


@pytest.mark.slow
def test_sixteen_long_episodes_stay_small(level: Level) -> None:
    wide = replace(level, world=parse_level(LEVEL, Path("x")).world)
    levels = {f"level {i}": replace(wide, name=f"level {i}") for i in range(4)}
    rows = [row for one in levels.values() for s in ("none", "random", "oracle", "protom") for row in long(one, s)]
    assert len(replays(levels, rows)) < 500_000


def long(level: Level, subject: str) -> list[Row]:
    """Thirty steps of walking about, each with sixteen messages priced differently."""
    base = {"condition": "useful", "subject": subject, "seed": 42, "episode": level.name}
    rows: list[Row] = []
    for t in range(30):
        posterior = {"red": 0.123456789 + t / 100, "blue": 0.876543211 - t / 100}
        for agent, goal in (("Ana", "red"), ("Ben", "blue")):
            action = "down" if t % 2 == 0 else "up"
            rows.append({**base, "t": t, "agent": agent, "action": action, "goal": goal, "posterior": posterior})
        prices = [{"message": f"{MESSAGE} {m}", "saves": m + t / 7, "changes": m / 16} for m in range(16)]
        rows.append({**base, "t": t, "agent": "facilitator", "action": "", "why": "too little", "prices": prices})
    return rows


@in_browser
@pytest.mark.parametrize(("t", "heading"), [(0, "is silent"), (1, "The facilitator says"), (99, "The end")])
def test_a_browser_shows_the_moment_of_the_address(
    level: Level, t: int, heading: str, tab: Page, tmp_path: Path
) -> None:
    markup = page("x", "", [Section("x", replays({level.name: level}, played(level)))])
    dom = browsed(tab, markup, f"level=corridor&who=protom&t={t}", tmp_path)
    assert heading in dom.partition('data-at="account"')[2].partition("<noscript>")[0]
    assert f">step {min(t, len(ANA))} of {len(ANA)}</span>" in dom
    x, y = placements(level.world, states(level.world)[min(t, len(ANA))])["agent-0"] or (0, 0)
    assert re.findall(r'data-part="agent-0"[^>]*style="transform: (.*?);"', dom) == [f"translate({x:g}px, {y:g}px)"]


CHOSEN_SPEED = """
const speed = document.querySelector('[data-at="speed"]');
speed.value = "SPEED";
speed.dispatchEvent(new Event("change"));
"""


def reached(tab: Page, level: Level, moment: str, folder: Path, *, still: bool = False, speed: str = "") -> int:
    """The step that is shown two seconds after a page has been opened."""
    markup = str(page("x", "", [Section("x", replays({level.name: level}, played(level)))]))
    if speed:  # by a script that the policy of the page would not allow
        markup = re.sub(r'<meta http-equiv="Content-Security-Policy".*?>', "", markup)
        markup = markup.replace("</body>", f"<script>{CHOSEN_SPEED.replace('SPEED', speed)}</script></body>")
    dom = browsed(tab, markup, moment, folder, still=still)
    (step,) = re.findall(r">step (\d+) of 6</span>", dom)
    return int(step)


@in_browser
def test_an_episode_plays_at_once_only_if_the_address_says_so_and_motion_is_welcome(
    level: Level, tab: Page, tmp_path: Path
) -> None:
    assert reached(tab, level, "", tmp_path) == 0
    assert reached(tab, level, "play=1", tmp_path) > 0
    assert reached(tab, level, "play=1", tmp_path, still=True) == 0


@in_browser
def test_speed_can_be_chosen_while_an_episode_plays(level: Level, tab: Page, tmp_path: Path) -> None:
    slow, fast = (reached(tab, level, "play=1", tmp_path, speed=speed) for speed in ("0.5", "4"))
    assert 0 < slow < 3
    assert fast == len(ANA)


def test_the_speeds_that_can_be_chosen(level: Level) -> None:
    (speeds,) = re.findall(r'<label>Speed <select data-at="speed">(.*?)</select>', page_of(level), re.DOTALL)
    assert re.findall(r'value="(.*?)"( selected)?', speeds) == [(s, " selected" * (s == "1")) for s in SPEEDS]


def page_of(level: Level) -> str:
    return replays({level.name: level}, played(level))


@in_browser
def test_a_browser_shows_hostile_words_as_words(tab: Page, tmp_path: Path) -> None:
    tame, wild = (Outline(browsed(tab, report(name), "", tmp_path)).tags for name in ("tame", HOSTILE))
    assert ("span", ["class", "data-at"]) in tame
    assert wild == tame
