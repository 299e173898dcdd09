"""Browsers that visit a server of one's own, and people who play in them: shared by tests and pictures."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from otherminds.papers.protom.doors_keys_gems import DOORS_KEYS_GEMS
from otherminds.papers.protom.episodes import Moment
from otherminds.papers.protom.experiment import PlannedEpisode
from otherminds.papers.protom.overcooked import OVERCOOKED
from otherminds.web.board import KEYS
from otherminds.worlds.overcooked.level_files import KitchenLevel
from web_lobbies import LEVELS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

PATIENCE = 30_000
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NAMES = ("chromium", "chromium-browser", "google-chrome")
MISSING = "there is no Chromium: install one, or let OTHERMINDS_BROWSER name it; and pip install playwright"
PHONE: Mapping[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
TABLET: Mapping[str, Any] = {"viewport": {"width": 820, "height": 1180}, "has_touch": True, "is_mobile": True}
NETWORK = r"net::ERR_\w+|WebSocket connection to .* failed"
ON = """t => document.body.dataset.stage !== "game"
  || parseInt(document.querySelector(".steps")?.textContent.slice(5)) > t"""
PAINTED = """() => [...document.querySelectorAll(".board .now > g")]
  .map((part) => part.querySelectorAll(":scope > g > g > *").length)"""
LIGHT = """() => ["color", "backgroundColor"].map((name) => getComputedStyle(document.body)[name])"""


def chromium() -> str:
    """Where there is a Chromium; empty if there is none."""
    named = os.environ.get("OTHERMINDS_BROWSER", "")
    return named or next((found for name in NAMES if (found := shutil.which(name))), "")


@contextmanager
def browsing() -> Iterator[Browser]:
    """A browser as long as it is needed."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium(), args=[*FLAGS])
        try:
            yield browser
        finally:
            browser.close()


class Visitors:
    """People who come with browsers of their own. Whatever goes wrong in their pages is kept in `troubles`.

    A page that was left is used again, as a new one takes longer than most visits.

    expected: what may go wrong, as it is provoked; a regular expression.
    """

    def __init__(self, browser: Browser, address: str) -> None:
        self.browser, self.address = browser, address
        self.here: list[tuple[dict[str, Any], Page]] = []
        self.left: list[tuple[dict[str, Any], Page]] = []
        self.troubles: list[str] = []
        self.expected = ""

    def page(self, path: str = "", **settings: Any) -> Page:
        """A page of somebody new."""
        known = next((one for one in self.left if one[0] == settings), None)
        if known:
            self.left.remove(known)
        else:
            context = self.browser.new_context(**{"base_url": self.address, "reduced_motion": "reduce", **settings})
            context.set_default_timeout(PATIENCE)
            known = settings, self.tab(context)
        self.here.append(known)
        if path:
            known[1].goto(path)
        return known[1]

    def tab(self, context: BrowserContext, path: str = "") -> Page:
        """One more page of somebody."""
        page = context.new_page()
        page.on("pageerror", lambda error: self._wrong(str(error)))
        page.on("console", self._told)
        if path:
            page.goto(path)
        return page

    def _told(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._wrong(f"{message.text} ({message.location['url']})")

    def _wrong(self, text: str) -> None:
        if not (self.expected and re.search(self.expected, text)):
            self.troubles.append(text)

    def leave(self) -> None:
        """All go home."""
        for _, page in self.here:
            page.goto("about:blank")
            page.context.clear_cookies()
            for tab in page.context.pages[1:]:
                tab.close()
        self.left, self.here = [*self.left, *self.here], []


# Playing


@cache
def _episode(level: str) -> tuple[Moment[Any, Any, Any], ...]:
    """How people succeed in a level, helped by somebody who knows what they want."""
    entry = PlannedEpisode(LEVELS[level], "oracle", "", 1)
    world = OVERCOOKED if isinstance(LEVELS[level], KitchenLevel) else DOORS_KEYS_GEMS
    return tuple(world.episode(entry))


@cache
def script(level: str) -> tuple[Mapping[str, str], ...]:
    """What people do who succeed in a level, in words."""
    world: Any = LEVELS[level].world
    spell = str if isinstance(LEVELS[level], KitchenLevel) else world.spell
    return tuple({agent: spell(action) for agent, action in moment.joint.items()} for moment in _episode(level))


def silence(level: str) -> int:
    """After how many steps of the script the first advice comes."""
    return next(t for t, moment in enumerate(_episode(level)) if moment.decision and moment.decision.message)


def step(page: Page) -> int:
    """The number of the step that is shown."""
    return int(re.findall(r"\d+", page.locator(".steps").inner_text())[0])


def beyond(page: Page, t: int) -> None:
    """Wait until what came after step t is shown, or another page than the game."""
    page.wait_for_function(ON, arg=t, polling=5)


def stage(page: Page) -> str:
    """The stage that somebody is at."""
    return page.locator("body").get_attribute("data-stage") or ""


def until(page: Page, name: str) -> None:
    """Wait until somebody is at a stage; a game has begun once its first frame is there."""
    page.locator(f'body[data-stage="{name}"]').wait_for()
    if name == "game":
        page.locator(".game .board .now > g").first.wait_for(state="attached")


def seat(page: Page) -> str:
    """Whom somebody plays."""
    return page.locator(".game-goal h2").inner_text().removeprefix("You are ").partition(".")[0]


def level(page: Page) -> str:
    """The level that somebody plays."""
    shown = page.locator(".game-bar h1").inner_text().partition(": ")[2]
    return next(name for name in LEVELS if name.replace("-", " ").replace("_", " ").lower() == shown)


def perform(pages: Sequence[Page], joints: Sequence[Mapping[str, str]]) -> None:
    """People press the keys for what is written, step by step."""
    seats = [seat(page) for page in pages]
    t = step(pages[0])
    for n, joint in enumerate(joints, t):
        for page, name in zip(pages, seats, strict=True):
            page.keyboard.press(KEYS[joint[name]])
        for page in pages:
            beyond(page, n)


# Looks


def narrow(page: Page) -> bool:
    """Whether nothing has to be scrolled sideways."""
    fits: bool = page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    return fits


def painted(page: Page) -> bool:
    """Whether everything that is on the board looks like something."""
    shapes = page.evaluate(PAINTED)
    return bool(shapes) and min(shapes) > 0


def contrast(page: Page) -> float:
    """The contrast of the main text, as WCAG has it."""
    dark, light = sorted(map(_luminance, page.evaluate(LIGHT)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    values = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in values]
    return float(sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True)))


# For everybody

NAMED = {"button", "checkbox", "combobox", "dialog", "DisclosureTriangle", "Iframe", "image", "img", "link", "radio"}
NAMED |= {"searchbox", "slider", "spinbutton", "textbox"}
LEVELS_SHOWN = """() => [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
  .filter((one) => one.checkVisibility()).map((one) => Number(one.tagName[1]))"""
STOPS = """() => {
  const ways = "a[href], button, input, select, textarea, summary, iframe, [tabindex='0']";
  const shown = [...document.querySelectorAll(ways)].filter((one) =>
    one.checkVisibility({ visibilityProperty: true }) && !one.disabled && !one.closest("[inert]"));
  const group = (one) => shown.filter(({ type, name }) => type === "radio" && name === one.name);
  const first = (one) => group(one).find(({ checked }) => checked) ?? group(one)[0];
  const stops = shown.filter((one) => one.type !== "radio" || one === first(one));
  stops.forEach((one, i) => { one.dataset.stop = i; });
  document.activeElement.blur();
  return stops.map((one) => one.outerHTML.slice(0, 120));
}"""
STOP = """() => {
  const one = document.activeElement;
  const outlined = [one, one.closest("label")].some((box) => box && getComputedStyle(box).outlineStyle !== "none");
  return [one.dataset.stop ?? "", outlined || one.tagName === "IFRAME"];
}"""


def inaccessible(page: Page) -> list[str]:
    """What a person without a mouse or without sight misses in a page.

    By the accessibility tree of the browser, controls and pictures have names and there is one main landmark. Headings
    begin with one of the first level and skip none. Tab reaches each control, with a focus that can be seen.
    """
    session = page.context.new_cdp_session(page)
    tree = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    nodes = [(one["role"]["value"], one.get("name", {}).get("value", "")) for one in tree if not one["ignored"]]
    found = [f"a {role} without a name" for role, name in nodes if role in NAMED and not name.strip()]
    if (mains := sum(role == "main" for role, _ in nodes)) != 1:
        found.append(f"{mains} main landmarks")
    levels = page.evaluate(LEVELS_SHOWN)
    if levels.count(1) != 1 or any(low - high > 1 for high, low in pairwise([0, *levels])):
        found.append(f"headings of levels {levels}")
    return found + _unreached(page)


def _unreached(page: Page) -> list[str]:
    """The controls that Tab does not reach, or whose focus cannot be seen."""
    stops = page.evaluate(STOPS)
    seen: dict[str, bool] = {}
    elsewhere = 0  # steps through a frame, or through the browser
    while len(seen) < len(stops) and elsewhere < 40:
        page.keyboard.press("Tab")
        stop, outlined = page.evaluate(STOP)
        elsewhere = elsewhere + 1 if stop in seen or not stop else 0
        if stop:
            seen[stop] = outlined
    page.evaluate("document.activeElement.blur()")
    missed = [text for i, text in enumerate(stops) if str(i) not in seen]
    return [f"Tab misses {text}" for text in missed] + [f"no focus on {stops[int(i)]}" for i in seen if not seen[i]]


SMALLEST = 8.5  # pixels of a letter in a plot; labels of things in drawings may be a tenth smaller
CONTRAST = 4.5  # of text, WCAG 2.1 AA
ILLEGIBLE = """([smallest, least]) => {
  const found = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) found.push(`${root.scrollWidth - root.clientWidth} px too wide`);
  const channels = (text) => text.match(/[0-9.]+/g).map(Number);
  const light = (colour) => channels(colour).slice(0, 3)
    .map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if ((channels(colour)[3] ?? 1) > 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const said = texts.currentNode.data.trim().slice(0, 40);
    const one = texts.currentNode.parentElement;
    if (!said || !one.checkVisibility() || one.closest("script, style, button:disabled")) continue;
    const drawn = one.closest("svg");
    if (drawn && drawn.getAttribute("fill") !== "currentColor") continue; // a letter on a drawn thing
    const style = getComputedStyle(one);
    const [dark, bright] = [light(drawn ? style.fill : style.color), light(ground(one))].sort((a, b) => a - b);
    const ratio = (bright + 0.05) / (dark + 0.05);
    if (ratio < least) found.push(`contrast ${ratio.toFixed(1)}: ${said} (${one.tagName})`);
  }
  for (const figure of document.querySelectorAll("figure > svg")) {
    if (!figure.checkVisibility()) continue;
    const name = figure.getAttribute("aria-label");
    const needed = smallest * (figure.getAttribute("fill") === "currentColor" ? 1 : 0.9);
    const boxes = [];
    for (const text of figure.querySelectorAll("text")) {
      const { a, b } = text.getScreenCTM();
      const size = parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b);
      if (size < needed) found.push(`${size.toFixed(1)} px: ${text.textContent} in ${name}`);
      const box = text.getBoundingClientRect();
      const under = boxes.find(([other]) => Math.min(other.right, box.right) - Math.max(other.left, box.left) > 2
        && Math.min(other.bottom, box.bottom) - Math.max(other.top, box.top) > 4);
      if (under) found.push(`${text.textContent} on ${under[1]} in ${name}`);
      boxes.push([box, text.textContent]);
    }
  }
  return [...new Set(found)];
}"""


def illegible(page: Page) -> list[str]:
    """What cannot be read in a page: too little contrast, letters of figures too small or on each other, overflow."""
    found: list[str] = page.evaluate(ILLEGIBLE, [SMALLEST, CONTRAST])
    return found
