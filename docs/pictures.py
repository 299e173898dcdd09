"""Make the pictures of the documentation: those of the web app, and those of stored results."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent / "tests"))

import matplotlib  # noqa: E402
import numpy as np  # noqa: E402
from playwright.sync_api import Page, expect  # noqa: E402

from otherminds.reports.people_page import confusion_matrix  # noqa: E402
from otherminds.reports.plots import LOOK  # noqa: E402
from web_browser import MISSING, PHONE, Visitors, browsing, chromium, perform, script, until  # noqa: E402
from web_seats import Server, serving  # noqa: E402

DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
TO_THE_BOARD = """frame => {
  const board = frame.contentDocument.querySelector("[data-replay]");
  scrollTo(0, frame.getBoundingClientRect().top + board.getBoundingClientRect().top + scrollY - 12);
}"""
LARGEST = 150_000


def picture(page: Page, name: str) -> None:
    """Keep what is seen of a page, once everything has come to rest."""
    path = DOCS / "pictures" / f"web-{name}.png"
    page.evaluate("document.fonts.ready")
    page.screenshot(path=path, animations="disabled", caret="hide")
    size = path.stat().st_size
    print(f"{path.name}: {size // 1000} kB")
    if size > LARGEST:
        raise SystemExit(f"{path.name} is too large")


def recognition() -> None:
    """Which mind simulated people are taken for, from the stored results of `reproduce people --full`."""
    found: dict[str, dict[tuple[str, str], float]] = {}
    for row in json.loads((DOCS / "stored" / "people.json").read_text("utf-8")):
        taken = row["subject"] if row["metric"] == "recognised" else row["metric"].removeprefix("taken_for_")
        if taken != row["metric"]:
            found.setdefault(row["condition"].partition("/")[2], {})[row["subject"], taken] = row["value"]
    for data, shares in found.items():
        names = [mind for mind, taken in shares if mind == taken]
        matrix = np.array([[shares.get((mind, other), 0.0) for other in names] for mind in names])
        with matplotlib.rc_context({**LOOK, "svg.hashsalt": data}):
            path = DOCS / "pictures" / f"recovery-{data}.svg"
            confusion_matrix(matrix, names).savefig(path, metadata={"Date": None})


def home(visitors: Visitors) -> None:
    """The doors."""
    page = visitors.page("/", **DESK)
    page.locator(".doors").wait_for()
    picture(page, "home")


def watch(visitors: Visitors) -> None:
    """An episode at the step at which ProToM speaks."""
    page = visitors.page("/watch", reduced_motion="no-preference", **DESK)
    page.get_by_label("World").select_option("overcooked")
    page.get_by_label("Level").select_option("hatch")
    page.get_by_label("Facilitator").select_option("protom")
    page.get_by_role("button", name="Watch").click()
    shown = page.frame_locator("iframe.episode")
    expect(shown.locator("h1")).to_contain_text("Hatch")
    shown.locator("[data-at=track] button").first.click()
    shown.locator("[data-at=account] blockquote").wait_for()
    page.locator("iframe.episode").evaluate(TO_THE_BOARD)
    picture(page, "watch")


def game(server: Server, visitors: Visitors) -> None:
    """A game at the moment of advice, on a screen and on a phone, and how it ends."""
    for name, settings in (("game", DESK), ("phone", {**PHONE, "color_scheme": "dark"})):
        wish = {"level": "hatch", "seat": "Ben", "facilitator": "protom"}
        page = visitors.page(server.ask("/api/play", wish)["link"], **settings)
        until(page, "game")
        perform([page], script("hatch")[:1])
        page.locator(".advice").wait_for()
        picture(page, name)
        if name == "game":
            page.keyboard.press("g")
            perform([page], script("hatch")[1:])
            until(page, "reveal")
            picture(page, "reveal")


def study(server: Server, visitors: Visitors) -> None:
    """A study in its second round, as the researcher sees it, and the questions at its end."""
    plan = {"levels": ["far-plate", "hatch", "upstairs"], "facilitators": ["none", "protom", "random"]}
    name = server.study(title="Two in a kitchen", pairs=3, **plan)
    pages = [visitors.page(link, **DESK) for link in server.links(name)[:2]]
    played: list[str] = []
    while "protom" not in played:
        for page in pages:
            page.get_by_role("button", name="I am ready").click()
        for page in pages:
            until(page, "game")
        found = server.ask(f"/api/studies/{name}")
        trial = found["trials"][len(played)]
        played.append(trial["facilitator"])
        joints = script(trial["level"])
        if trial["facilitator"] == "protom":
            perform(pages, joints[:9])
            dashboard(server, visitors, name)
            joints = joints[9:]
        perform(pages, joints)
        for page in pages if trial["facilitator"] != "none" else ():
            rate(page, pictured=page is pages[0])
        for page in pages:
            until(page, "reveal")
            page.get_by_role("button", name="Go on").click()


def rate(page: Page, pictured: bool) -> None:
    """Answer the questions; a picture of them when some are answered."""
    until(page, "questions")
    for i, aspect in enumerate(("helpful", "appropriate", "clear", "understood")):
        if i == 2 and pictured:
            picture(page, "questions")
        page.locator(f'[name="aspect-{aspect}"][value="{6 - i % 2}"]').check()
    page.get_by_role("button", name="Send").click()


def dashboard(server: Server, visitors: Visitors, name: str) -> None:
    """The study, with a look into the room."""
    page = visitors.page(**DESK)
    key, _, value = server.cookie.partition("=")
    page.context.add_cookies([{"name": key, "value": value, "url": server.address}])
    page.goto(f"/studies/{name}")
    page.get_by_role("button", name="Watch", exact=True).click()
    expect(page.locator(".mind:has(li.true)")).to_have_count(2)
    page.evaluate("scrollTo(0, 0)")
    picture(page, "dashboard")


def main() -> None:
    """All pictures, those of the web app with a server in a folder that is gone afterwards."""
    recognition()
    if not chromium():
        raise SystemExit(MISSING)
    with TemporaryDirectory() as folder, serving(Path(folder)) as server, browsing() as browser:
        visitors = Visitors(browser, server.address)
        visitors.expected = r"status of 404.*/rooms/"  # a round that has just ended
        home(visitors)
        watch(visitors)
        game(server, visitors)
        study(server, visitors)
        visitors.leave()
        for trouble in visitors.troubles:
            print(trouble, file=sys.stderr)


if __name__ == "__main__":
    main()
