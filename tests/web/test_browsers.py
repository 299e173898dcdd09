"""The web app as people live it, in browsers: watching, playing, and a whole study from its plan to its export."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from itertools import count, groupby
from pathlib import Path
from sqlite3 import connect
from typing import TYPE_CHECKING, Any, Literal

import pytest

from otherminds.evaluation.tabular import read_rows
from otherminds.observer import surprise_in_words
from otherminds.papers.protom.facilitator import SURE
from otherminds.papers.protom.study.export import read_export
from otherminds.papers.protom.study.plan import default_levels
from otherminds.papers.protom.study.scores import summarise
from otherminds.web.board import KEYS
from otherminds.web.studies import ASPECTS
from otherminds.web.thinking import GameSetup, PlayedStep, advise
from web_browser import (
    MISSING,
    NETWORK,
    PHONE,
    TABLET,
    Visitors,
    beyond,
    browsing,
    chromium,
    contrast,
    inaccessible,
    level,
    narrow,
    painted,
    perform,
    script,
    seat,
    silence,
    stage,
    step,
    until,
)
from web_lobbies import LEVELS
from web_seats import SECRET, Server, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, FrameLocator, Page
if find_spec("playwright"):
    from playwright.sync_api import expect

NO_BROWSER = pytest.mark.skipif(not (chromium() and find_spec("playwright")), reason=MISSING)
pytestmark = [pytest.mark.slow, NO_BROWSER]

RIGHT = (
    "By walking against a cutting board with it",
    "When both our dishes are delivered",
    "I do it if I think that it helps us",
)
WRONG = "By waiting beside it"
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PLAYED = ("hatch", "tomato-abroad", "upstairs")
LOOKED_AT = 3
COMMENT = '=1+1, "quoted"; ünïcode 🍅'
UNAUTHORISED, OVER = r"status of 401", r"status of 404.*/rooms/"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("browsers")) as started:
        yield started
        assert "Traceback" not in started.store.with_suffix(".log").read_text()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as started:
        yield started


@pytest.fixture(scope="module")
def everybody(server: Server, browser: Browser) -> Visitors:
    return Visitors(browser, server.address)


@pytest.fixture
def visitors(everybody: Visitors) -> Iterator[Visitors]:
    everybody.troubles, everybody.expected = [], ""
    yield everybody
    everybody.leave()
    assert everybody.troubles == []


# Watching


def episode(page: Page) -> FrameLocator:
    return page.frame_locator("iframe.episode")


def test_an_episode_is_watched_shared_and_kept(visitors: Visitors, tmp_path: Path) -> None:
    page = visitors.page("/watch", reduced_motion="no-preference")
    page.get_by_label("World").select_option("overcooked")
    page.get_by_label("Level").select_option("hatch")
    page.get_by_label("Facilitator").select_option("protom")
    page.get_by_role("button", name="Watch").click()
    shown = episode(page)
    clock = shown.locator("[data-at=clock]")
    expect(clock).to_contain_text("step 2 of")  # it steps by itself
    shown.get_by_role("button", name="Pause").click()
    expect(shown.get_by_role("button", name="Play")).to_be_visible()
    scrubber = shown.locator("[data-at=scrubber]")
    scrubber.fill("5")
    expect(clock).to_contain_text("step 5 of")
    shown.get_by_role("button", name="Next", exact=True).click()
    expect(clock).to_contain_text("step 6 of")
    shown.get_by_role("button", name="Back").click()
    expect(clock).to_contain_text("step 5 of")
    shown.locator("[data-at=speed]").select_option("4")
    last = int(scrubber.get_attribute("max") or "")
    scrubber.fill(str(last - 2))
    shown.get_by_role("button", name="Play").click()
    expect(clock).to_contain_text(f"step {last} of {last}")
    shared(visitors, page.url, shown.locator("h1").inner_text())
    kept(visitors, page, tmp_path / "episode.html", last)


def shared(visitors: Visitors, link: str, title: str) -> None:
    """Whoever follows the link sees the same, and the form says how it was made."""
    other = visitors.page(link, **PHONE)
    expect(episode(other).locator("h1")).to_have_text(title)
    expect(other.get_by_role("status")).to_have_text("The episode is below.")
    expect(other.get_by_label("Level")).to_have_value("hatch")
    expect(other.get_by_label("Facilitator")).to_have_value("protom")
    assert narrow(other)


def kept(visitors: Visitors, page: Page, path: Path, last: int) -> None:
    """The file of an episode shows it without anything else."""
    with page.expect_download() as found:
        page.get_by_role("link", name="Download as one file").click()
    found.value.save_as(path)
    alone = visitors.page()
    asked: list[str] = []
    alone.on("request", lambda request: asked.append(request.url))
    alone.goto(path.as_uri())
    alone.get_by_role("button", name="Next", exact=True).click()
    expect(alone.locator("[data-at=clock]")).to_contain_text(f"step 1 of {last}")
    expect(alone.get_by_role("status")).to_contain_text(
        re.compile(f"Step 1 of {last}. Most likely goals: Ana: .*; Ben: ")
    )
    assert inaccessible(alone) == []
    assert asked == [path.as_uri()]


# Playing alone


def logged(server: Server) -> tuple[GameSetup, list[PlayedStep], list[int]]:
    """The latest game in the event log: its setup, its steps, and the steps after which the facilitator thought."""
    with closing(connect(server.store)) as base:
        latest = "select stream from events where kind = 'opened' order by at desc limit 1"
        events = base.execute(f"select kind, body from events where stream = ({latest}) order by seq").fetchall()
    opened, steps, heard = json.loads(events[0][1]), list[PlayedStep](), list[tuple[str, str]]()
    said, thoughts = list[str](), list[int]()
    for kind, body in [(kind, json.loads(text)) for kind, text in events[1:]]:
        if kind == "step":
            steps.append(PlayedStep(body["joint"], heard=tuple(heard)))
            heard = []
        elif kind == "heard":
            heard.append((said[body["advice"]], body["reply"]))
        elif kind == "thought":
            thoughts.append(t := body["thought"]["t"])
            steps[t - 1] = steps[t - 1]._replace(message=body["thought"]["row"]["action"])
            said += [steps[t - 1].message] * bool(steps[t - 1].message)
    return GameSetup("as logged", LEVELS[opened["level"]], opened["facilitator"], opened["seed"]), steps, thoughts


def true_to_the_log(server: Server, page: Page) -> None:
    """The end says what the posterior is that follows from the logged actions, and so does the replay."""
    while max((found := logged(server))[2], default=0) < len(found[1]):
        page.wait_for_timeout(50)
    setup, steps, after = found
    thoughts = {t: advise(setup, steps[:t]) for t in after}
    half = min(after, key=lambda t: abs(2 * t - len(steps)))
    expect(page.get_by_role("heading", name="believed halfway")).to_contain_text(f"after step {half}")
    for agent, belief in thoughts[half].beliefs.items():
        card = page.locator("h2:has-text('believed halfway') + ul > li").filter(has_text=agent)
        expect(card.locator("b")).to_have_text([f"{p:.2f}" for p in belief["posterior"].values()])
        unsure = max((t for t in after if thoughts[t].beliefs[agent]["p_true"] < SURE), default=0)
        since = min((t for t in after if t > unsure), default=None)
        expect(card).to_contain_text(f"sure of the right goal from step {since} on" if since else "not sure")
        for t, thought in thoughts.items():
            if words := surprise_in_words(thought.surprise[agent]):
                expect(card).to_contain_text(f"tep {t} was {words}")
    page.get_by_role("link", name="Watch it again").click()
    page.locator("[data-at=scrubber]").fill(str(half))
    for i, belief in enumerate(thoughts[half].beliefs.values()):
        shown = sorted(float(text) for text in page.locator(".mind").nth(i).locator(".bars b").all_inner_texts())
        assert shown == pytest.approx(sorted(belief["posterior"].values()), abs=0.006)  # the replay rounds twice
    assert narrow(page)
    page.go_back()
    until(page, "reveal")


def test_a_kitchen_is_played_with_the_keyboard(server: Server, visitors: Visitors) -> None:
    page = visitors.page("/play")
    page.get_by_role("radio", name="Only together").check()
    page.get_by_label("Which of the").select_option("hatch")
    page.get_by_role("radio", name="Ben", exact=True).check()
    page.get_by_role("button", name="Play").click()
    until(page, "game")
    assert (seat(page), level(page)) == ("Ben", "hatch")
    joints, t = script("hatch"), silence("hatch")
    perform([page], joints[:t])
    box = page.locator(".advice")
    expect(box.locator(".text")).to_contain_text("Pass the fresh onion at (3, 6) to Ana")
    expect(box.locator(".why")).to_contain_text("Ana")
    expect(page.locator(".board .aim")).to_be_visible()
    page.keyboard.press("g")
    expect(box).to_have_count(0)
    expect(page.locator(".advice-card")).to_contain_text("Pass the fresh onion")
    perform([page], joints[t:])
    until(page, "reveal")
    expect(page.get_by_role("heading", name=f"Done in {len(joints)} steps")).to_be_visible()
    row = page.get_by_role("row").filter(has_text="pass the fresh onion at (3, 6) to Ana")
    expect(row).to_contain_text("Completed")
    ana = page.locator(".people > li").filter(has_text="Ana (simulated)")
    expect(ana).to_contain_text("chopped")
    expect(ana).to_contain_text("reached")
    true_to_the_log(server, page)
    page.get_by_role("link", name="Play again").click()
    expect(page.get_by_role("heading", name="Play with a mind")).to_be_visible()


def played_by_touch(page: Page, name: str, advised: int = -1) -> None:
    """Tap what the script says until the end; the advice after step `advised` is awaited and answered."""
    you = seat(page)
    for t, joint in enumerate(script(name)):
        if t == advised:
            page.get_by_role("button", name="Got it").tap()
        by_name = page.locator(".uses").get_by_role("button").first
        (page.locator(f".cross .{joint[you]}") if joint[you] in KEYS else by_name).tap()
        beyond(page, t)
    until(page, "reveal")
    expect(page.get_by_role("heading", name="Done in")).to_be_visible()
    expect(page.locator(".reached")).to_have_count(2)
    assert narrow(page)


def test_a_kitchen_is_played_by_touch_on_a_tablet(server: Server, visitors: Visitors) -> None:
    page = visitors.page("/play", **TABLET)
    page.get_by_role("radio", name="Only together").check()
    page.get_by_label("Which of the").select_option("hatch")
    page.get_by_role("radio", name="Ben", exact=True).check()
    page.get_by_role("button", name="Play").tap()
    until(page, "game")
    played_by_touch(page, "hatch", silence("hatch"))
    true_to_the_log(server, page)


def test_a_map_is_played_by_touch_on_a_phone(server: Server, visitors: Visitors) -> None:
    page = visitors.page("/play", **PHONE)
    page.get_by_role("radio", name="Doors, keys and gems").check()
    page.get_by_role("radio", name="Each on their own").check()
    page.get_by_label("Which of the").select_option("two-purple-doors")
    you = page.locator("[name=seat]").last.get_attribute("value") or ""
    page.locator("[name=seat]").last.check()
    page.get_by_role("button", name="Play").tap()
    until(page, "game")
    assert seat(page) == you
    played_by_touch(page, "two-purple-doors")
    true_to_the_log(server, page)


# An invitation


def test_an_invitation_is_followed_and_a_lost_link_is_replaced(server: Server, visitors: Visitors) -> None:
    visitors.expected = f"{UNAUTHORISED}|status of (404|409)"
    study = server.study(title="Two in a kitchen", keep_labels=True)
    address = server.ask(f"/api/studies/{study}")["invitation"] + "?pid=ana"
    mine, other, desk = (visitors.page(at, **PHONE) for at in (address, address, f"/studies/{study}"))
    for page in (mine, other):
        expect(page.get_by_role("heading", name="Two in a kitchen")).to_be_visible()
        assert narrow(page)
    assert len(server.links(study)) == 2  # nobody has joined by looking
    mine.get_by_role("button", name="Take part").click()
    until(mine, "lobby")
    link = mine.url
    mine.goto(address)
    mine.get_by_role("link", name="Go on").click()
    until(mine, "lobby")
    assert mine.url == link
    other.get_by_role("button", name="Take part").click()
    expect(other.get_by_role("alert")).to_contain_text("ask the researcher")
    expect(other.get_by_role("button")).to_have_count(0)
    desk.get_by_label("Key").fill(SECRET)
    desk.get_by_role("button", name="Enter").click()
    row = desk.locator("[data-links] tbody tr").filter(has_text="(ana)")
    row.get_by_role("button", name="New link").click()
    assert narrow(desk)
    row.get_by_role("button", name="End the old link").click()
    expect(row.locator("input")).not_to_have_value(link)
    expect(mine.get_by_text("This link is not valid")).to_be_visible()
    other.goto(row.locator("input").input_value())
    until(other, "lobby")
    other.goto("/join/nonsense")
    expect(other.get_by_role("alert")).to_contain_text("not valid")


# A study


def made(desk: Page) -> None:
    """A researcher enters, and makes a study for one pair with the form."""
    desk.goto("/studies")
    desk.get_by_label("Key").fill("not " + SECRET)
    desk.get_by_role("button", name="Enter").click()
    expect(desk.get_by_role("alert")).to_contain_text("not the key")
    desk.get_by_label("Key").fill(SECRET)
    desk.get_by_role("button", name="Enter").click()
    desk.locator("[name=title]").fill("Two in a kitchen")
    desk.locator("[name=pairs]").fill("1")
    desk.locator("[name=seconds]").fill("0")
    for name in (one.name for one in default_levels() if one.name not in PLAYED):
        desk.locator(f'[name=levels][value="{name}"]').uncheck()
    desk.get_by_role("button", name="Make the study").click()
    expect(desk.get_by_role("heading", name="Two in a kitchen")).to_be_visible()


def agree_and_learn(page: Page) -> None:
    """Consent, the rules, and questions about them, of which one is answered wrongly at first."""
    until(page, "consent")
    expect(page.get_by_role("heading", name="Two in a kitchen")).to_be_visible()
    assert narrow(page)
    assert inaccessible(page) == []
    page.get_by_role("button", name="I agree").click()
    until(page, "tutorial")
    while page.get_by_role("button", name="Next").count():
        assert narrow(page)
        page.get_by_role("button", name="Next", exact=True).click()
    assert inaccessible(page) == []
    for answer in (WRONG, *RIGHT[1:]):
        page.get_by_label(answer).check()
    page.get_by_role("button", name="Check my answers").click()
    expect(page.get_by_role("heading", name="Almost")).to_be_visible()
    expect(page.locator("fieldset.missed")).to_have_count(1)
    page.get_by_label(RIGHT[0]).check()
    page.get_by_role("button", name="Check my answers").click()


def practise(server: Server, page: Page) -> None:
    """A round with a simulated person, and with advice, which is followed; whoever is not done then waits."""
    until(page, "ready")
    page.get_by_role("button", name="I am ready").click()
    until(page, "game")
    expect(page.locator(".game-bar")).to_contain_text("Practice")
    played = logged(server)[0].level.name  # participants are not told
    joints, t = script(played), silence(played)
    perform([page], joints[:t])
    page.get_by_role("button", name="Got it").click()
    perform([page], joints[t:])
    for n in count(len(joints)):
        if stage(page) != "game":
            break
        page.keyboard.press(KEYS["stay"])
        beyond(page, n)
    until(page, "reveal")
    expect(page.get_by_text("End of the practice")).to_be_visible()
    assert narrow(page)
    page.get_by_role("button", name="Go on").click()


def play_round(server: Server, pages: list[Page], number: int, desk: Page, points: dict[tuple[int, int], int]) -> str:
    """Both get ready, play by the script, rate the facilitator, and see what comes to light; returns the level."""
    for page in pages:
        expect(page.get_by_role("heading", name=f"Round {number} of 3")).to_be_visible()
        assert narrow(page)
        page.get_by_role("button", name="I am ready").click()
    for page in pages:
        until(page, "game")
        assert narrow(page)
        assert inaccessible(page) == []
        assert painted(page)
    played = logged(server)[0].level.name
    assert all(name.replace("-", " ") not in page.content().lower() for page in pages for name in PLAYED)
    joints = script(played)
    if number == LOOKED_AT:
        perform(pages, joints[:8])
        look_on(desk, number, played)
    perform(pages, joints[step(pages[0]) :])
    for i, page in enumerate(pages):
        page.locator('body[data-stage="game"]').wait_for(state="detached")
        if stage(page) == "questions":
            points[number, i] = 7 - i - number // 3
            rate(page, points[number, i], COMMENT if number == min(points)[0] else "")
        until(page, "reveal")
        expect(page.get_by_role("heading", name=f"Done in {len(script(played))} steps")).to_be_visible()
        expect(page.locator(".people > li").filter(has_text="your partner")).to_contain_text("reached")
        assert narrow(page)
        assert inaccessible(page) == []
    return played


def rate(page: Page, points: int, comment: str) -> None:
    """Answer the questions, each with one point less than the one before."""
    expect(page.get_by_role("heading", name="What do you think of")).to_be_visible()
    assert narrow(page)
    assert inaccessible(page) == []
    for i, key in enumerate(ASPECTS):
        expect(page.get_by_role("button", name="Send")).to_be_disabled()
        page.locator(f'[name="aspect-{key}"][value="{points - i}"]').check()
    page.get_by_label("Anything else").fill(comment)
    page.get_by_role("button", name="Send").click()


def exported(desk: Page, folder: Path) -> list[dict[str, Any]]:
    """The rows of the export, which are the same in every format."""
    found = []
    for form in ("jsonl", "csv", *(["parquet"] if find_spec("pyarrow") else [])):
        with desk.expect_download() as download:
            desk.get_by_role("link", name=form.upper()).click()
        download.value.save_as(folder / f"rows.{form}")
        assert read_export(folder / f"rows.{form}")
        found.append(read_rows(folder / f"rows.{form}"))
    assert all(rows == found[0] for rows in found)
    return read_export(folder / "rows.jsonl")


def test_a_study_from_its_plan_to_its_export(server: Server, visitors: Visitors, tmp_path: Path) -> None:
    visitors.expected = f"{UNAUTHORISED}|status of 403|{OVER}"
    desk = visitors.page()
    made(desk)
    fields = desk.locator("[data-links] .address input")
    expect(fields).to_have_count(2)
    pages = [
        visitors.page(fields.nth(0).input_value()),
        visitors.page(fields.nth(1).input_value(), color_scheme="dark", **PHONE),
    ]
    for page in pages:
        agree_and_learn(page)
        practise(server, page)
        if page is pages[0]:
            until(page, "lobby")
    points: dict[tuple[int, int], int] = {}
    played = []
    for number in range(1, 4):
        played.append(play_round(server, pages, number, desk, points))
        for page in pages:
            page.get_by_role("button", name="Finish" if number == 3 else "Go on").click()
            page.locator('body[data-stage="reveal"]').wait_for(state="detached")
    codes = {page.locator(".code").inner_text() for page in pages}
    assert len(codes) == 2
    expect(desk.locator("section[data-head]")).to_contain_text("1 of 1 pair finished")
    assert sorted(played) == list(PLAYED)
    check(exported(desk, tmp_path), played, points)


QUESTION = """
[[questionnaires]]
name = "about"
when = "before"
title = "About you"
questions = [
  { key = "age", text = "How old are you?", kind = "number", min = 18, max = 120 },
  { key = "mood", text = "How are you?", kind = "scale", low = 1, high = 3, labels = ["bad", "so-so", "good"] },
  { key = "games", text = "Do you play?", kind = "choice", options = ["never", "often"] },
  { key = "note", text = "Anything else?", kind = "text", required = false },
]
"""
STUDY = """
title = "From a file"
levels = ["hatch"]
facilitators = ["protom"]
pairs = 1
partner = "simulated"
instructions = "# What you do\\n\\nYou **play**."
tutorial = false
practice = false
round_minutes = 30
"""


def test_a_study_file_is_loaded_looked_through_and_lived(server: Server, visitors: Visitors, tmp_path: Path) -> None:
    visitors.expected = f"{UNAUTHORISED}|status of 422"
    desk = visitors.page()
    desk.goto("/studies")
    desk.get_by_label("Key").fill(SECRET)
    desk.get_by_role("button", name="Enter").click()
    expect(desk.locator("[data-file]")).to_be_enabled()
    (tmp_path / "study.toml").write_text(STUDY.replace("levels", "levls") + QUESTION)
    desk.set_input_files("[data-file]", tmp_path / "study.toml")
    expect(desk.locator("[data-wrong]")).to_have_text("study.toml: unknown key `levls` (did you mean levels?)")
    (tmp_path / "study.toml").write_text(STUDY + QUESTION)
    desk.set_input_files("[data-file]", tmp_path / "study.toml")
    expect(desk.get_by_label("Title")).to_have_value("From a file")
    expect(desk.locator("[data-wrong]")).to_be_hidden()
    assert inaccessible(desk) == []
    desk.get_by_role("button", name="Make the study").click()
    link = desk.locator("[data-links] .address input").first.input_value()
    desk.get_by_role("link", name="See every page").click()
    expect(desk.locator(".pages option")).not_to_have_count(0)
    names = desk.locator(".pages option").all_inner_texts()
    for place in range(1, len(names) + 1):
        desk.get_by_label("Page", exact=True).select_option(str(place))
        expect(desk.locator("[data-shown] h1")).to_have_count(1)
        assert desk.locator("[data-shown]").evaluate("one => one.inert")
        assert narrow(desk)
    assert inaccessible(desk) == []
    page = visitors.page(link, **PHONE)
    page.get_by_role("button", name="I agree").click()
    until(page, "instructions")
    expect(page.get_by_role("heading", name="What you do")).to_be_visible()
    assert narrow(page)
    assert inaccessible(page) == []
    page.get_by_role("button", name="Go on").click()
    until(page, "form")
    page.get_by_label("How old are you?").fill("17")
    page.locator('[name="form-mood"][value="2"]').check()
    page.get_by_label("often").check()
    expect(page.get_by_role("button", name="Send")).to_be_disabled()
    page.get_by_label("How old are you?").fill("18")
    assert narrow(page)
    assert inaccessible(page) == []
    page.get_by_role("button", name="Send").click()
    until(page, "ready")
    page.get_by_role("button", name="I am ready").click()
    until(page, "game")
    assert " ".join(page.locator(".game-goal").inner_text().split()).startswith(f"You are {seat(page)}. Your goal: ")
    expect(page.locator(".steps")).to_contain_text("30 min left")
    page.get_by_role("button", name="We cannot do this").click()
    page.get_by_role("dialog").get_by_role("button", name="We cannot do this").click()
    until(page, "questions")


def look_on(desk: Page, number: int, played: str) -> None:
    """The dashboard says which round is running, and shows all of it, live, with what ProToM believes."""
    row = desk.locator("[data-pairs] tbody tr")
    expect(row).to_contain_text(f"{number} of 3: {played.replace('-', ' ').capitalize()}, protom as ")
    expect(desk.locator("[data-links] tbody tr").filter(has_text="playing")).to_have_count(2)
    row.get_by_role("button", name="Watch").click()
    room = desk.locator("[data-room]")
    expect(room.get_by_role("heading", name="Live: step 8, facilitator protom")).to_be_visible()
    expect(room.locator(".board .person")).to_have_count(2)
    expect(room.locator(".mind:has(li.true)")).to_have_count(2)
    expect(room.get_by_role("status")).to_contain_text("most likely wants")
    assert inaccessible(desk) == []
    window = desk.viewport_size
    desk.set_viewport_size({"width": 390, "height": 844})
    assert narrow(desk)
    desk.set_viewport_size(window or {"width": 1280, "height": 720})


def check(rows: list[dict[str, Any]], played: list[str], points: dict[tuple[int, int], int]) -> None:
    """The rows tell what was played and answered."""
    trials = [list(trial) for _, trial in groupby(rows, key=lambda row: row["episode"])]
    lasts = [trial[-1] for trial in trials]
    assert [last["level"] for last in lasts] == played
    assert [last["length"] for last in lasts] == [len(script(name)) for name in played]
    assert all(last["success"] and set(last["by"].values()) == {"person"} for last in lasts)
    subjects = [last["subject"] for last in lasts]
    assert sorted(subjects) == ["none", "protom", "random"]
    for number, last in enumerate(lasts, 1):
        given = [tuple(found[key] for key in ASPECTS) for found in last.get("ratings", {}).values()]
        meant = [tuple(range(most, most - 4, -1)) for (at, _), most in points.items() if at == number]
        assert sorted(given) == sorted(meant)
        assert len(given) == (0 if last["subject"] == "none" else 2)
        first = number == min(points)[0]
        assert list(last.get("comments", {}).values()) == ([COMMENT] * 2 if first else [])
    scores = {row["subject"]: row for row in summarise(rows)}
    assert set(scores) == {"none", "protom", "random"}


# Whatever happens


def solo(server: Server, seat: str, name: str, facilitator: str = "none") -> str:
    wish = {"level": name, "seat": seat, "facilitator": facilitator}
    link: str = server.ask("/api/play", wish)["link"]
    return link


def test_a_second_tab_has_to_take_over(server: Server, visitors: Visitors) -> None:
    link = solo(server, "Ben", "hatch")
    page = visitors.page(link)
    until(page, "game")
    other = visitors.tab(page.context, link)
    note = other.locator("[data-link]")
    expect(note).to_contain_text("This is open in another tab.")
    perform([page], script("hatch")[:1])
    other.get_by_role("button", name="Use this tab").click()
    until(other, "game")
    expect(note).to_be_hidden()
    expect(page.locator("[data-link]")).to_contain_text("This is open in another tab.")
    perform([other], script("hatch")[1:2])
    assert (step(page), step(other)) == (1, 2)


def test_who_does_not_leave_after_all_plays_on_with_the_keyboard(server: Server, visitors: Visitors) -> None:
    page = visitors.page(solo(server, "Ben", "hatch"))
    until(page, "game")
    page.get_by_role("button", name="Leave").click()
    page.keyboard.press("ArrowUp")  # says nothing to the game while there is a question
    page.get_by_role("button", name="Play on").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    perform([page], [{"Ben": "up"}])
    page.get_by_role("button", name="Leave").click()
    page.get_by_role("button", name="Leave the game").click()
    until(page, "thanks")


def test_loading_the_page_again_loses_nothing_that_was_seen(server: Server, visitors: Visitors) -> None:
    page = visitors.page(solo(server, "Ben", "two-onions"))
    until(page, "game")
    perform([page], script("two-onions")[:14])
    remembered = [page.locator(f".board {name}").count() for name in (".mist", ".ghost")]
    assert min(remembered) > 0
    page.reload()
    until(page, "game")
    assert step(page) == 14
    assert [page.locator(f".board {name}").count() for name in (".mist", ".ghost")] == remembered


# For everybody


def tab_to(page: Page, role: Any, name: str) -> None:
    """Press Tab until something has the focus."""
    wanted = page.get_by_role(role, name=name, exact=True)
    wanted.wait_for()
    for _ in range(60):
        page.keyboard.press("Tab")
        if wanted.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError(f"{name} cannot be reached")


def test_a_game_is_played_with_tab_and_enter_alone(visitors: Visitors) -> None:
    page = visitors.page("/")
    for _ in range(9):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.pathname") == "/play":
            break
    page.keyboard.press("Enter")
    tab_to(page, "button", "Play")
    page.keyboard.press("Enter")
    until(page, "game")
    for t in range(2):
        tab_to(page, "button", "Wait")
        page.keyboard.press("Enter")
        beyond(page, t)
    assert step(page) == 2


def test_a_page_that_some_people_cannot_use_is_noticed(visitors: Visitors) -> None:
    page = visitors.page()
    page.set_content("""<style>a { outline: none !important }</style><h1>A</h1><h3>B</h3><img src="data:,"><input>
      <a href="#">there</a><button tabindex="-1">not by Tab</button>""")
    found = " ".join(inaccessible(page))
    for fault in (
        "a textbox without a name",
        "a image without a name",
        "0 main",
        "levels [1, 3]",
        "misses <but",
        "on <a ",
    ):
        assert fault in found


def test_pages_are_legible_for_everybody_and_fit_a_phone(server: Server, visitors: Visitors) -> None:
    page = visitors.page(color_scheme="light", **PHONE)
    key, _, value = server.cookie.partition("=")
    page.context.add_cookies([{"name": key, "value": value, "url": server.address}])
    study = server.study(title="A study with a title that is longer than a phone is wide")
    pages = {
        "/": ".doors",
        "/watch": "[data-at=watch]:enabled",
        "/play": "form button",
        "/enter": "form",
        "/studies": "form button",
        f"/studies/{study}": "[data-links] table",
        server.links(study)[0]: "h1",
        solo(server, "Ana", "corridor"): ".board .person",
    }
    for path, shown in pages.items():
        page.goto(path)
        page.locator(shown).first.wait_for()
        assert narrow(page), path
        assert inaccessible(page) == [], path
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            assert contrast(page) >= 4.5, (path, scheme)


# Last, as whoever thinks in the server has to be started again after that


def test_a_game_goes_on_when_the_server_is_back(server: Server, visitors: Visitors) -> None:
    visitors.expected = NETWORK
    page = visitors.page(solo(server, "Ben", "hatch"))
    until(page, "game")
    joints = script("hatch")
    perform([page], joints[:3])
    note = page.locator("[data-link]")
    expect(note).to_be_hidden()
    server.kill()
    expect(note).to_contain_text("The connection is lost. Trying again")
    page.keyboard.press("ArrowUp")  # is not kept for later
    server.start()
    expect(note).to_be_hidden()
    assert step(page) == 3
    expect(page.locator(".act[aria-pressed=true]")).to_have_count(0)
    perform([page], joints[3:5])
    assert step(page) == 5
