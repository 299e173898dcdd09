"""Three hundred hostile texts on every page that shows text, in a browser: all can be read, and none does anything."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import web_lobbies
from otherminds.cli.levels import load_level
from otherminds.papers.protom.study import report as study_report
from otherminds.papers.protom.study import scores as study_scores
from otherminds.papers.protom.study.export import ASPECTS
from otherminds.web.games import LiveGame
from otherminds.web.lobby import Lobby
from otherminds.web.thinking import FacilitatorThought
from payloads import ELEMENTS, LINES, PAYLOADS, WHOLE, hostile_export, kitchen, shown, together
from web_browser import MISSING, browsing, chromium
from web_lobbies import opened, people, plan, settle
from web_seats import Server, serving

HALF = WHOLE[1::2]
LISTEN = "addEventListener('securitypolicyviolation', (e) => console.error('violation', e.violatedDirective, e.sample))"
LEVEL = '</title><img src=x onerror="window.pwned=1;alert(1)">'

TEXT = """() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [document.title];
  while (texts.nextNode()) found.push(texts.currentNode.data);
  return found.join(" ");
}"""

NO_BROWSER = pytest.mark.skipif(not (chromium() and find_spec("playwright")), reason=MISSING)
pytestmark = [pytest.mark.slow, NO_BROWSER]


class Links(NamedTuple):
    """Where to look: pages of participants at their stages, and the dashboard of a study with everything in it."""

    consent: str
    game: str
    reveal: str
    questions: str
    study: str
    labels: str


# What there is to see


@pytest.fixture(scope="module")
def levels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Level files with hostile names."""
    folder = tmp_path_factory.mktemp("levels")
    for i, text in enumerate([LEVEL, *LINES]):
        (folder / f"{i:03}.txt").write_text(kitchen(name=text, kind="useful"), "utf-8", newline="")
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
def lived(levels: list[Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Links]:
    """An event log of studies in which everything has happened, and where to look."""
    folder = tmp_path_factory.mktemp("lived")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(web_lobbies, "LEVELS", web_lobbies.LEVELS | {LEVEL: load_level(str(levels[0]))})

        async def live() -> Links:
            with opened(folder / "journal.sqlite") as lobby:
                for text in WHOLE:
                    lobby.create(plan(title=text, partner="simulated"))
                return await happen(lobby)

        return folder, asyncio.run(live())


async def happen(lobby: Lobby) -> Links:
    """A study with hostile labels, and one in whose rooms hostile things are said."""
    title, consent = together(" ", 200)[0], "\n\n".join(WHOLE)
    asked = lobby.create(plan(title=title, consent=consent, keep_labels=True, pairs=1))
    for text in WHOLE:
        lobby.join(asked, "open", text)
    rounds = {"levels": (LEVEL,), "facilitators": ("random",), "grace": 3600.0, "title": title, "consent": consent}
    study = lobby.create(plan(**rounds, pairs=2))
    pages = people(lobby, study)
    cem = pages[2]
    for one in pages:
        one.do("consent")
    for one in pages:
        one.do("ready")
    await settle(lambda: all(one.seen >= 0 for one in pages))
    for one in pages:
        one.do("act", action="stay", t=0)
    await settle(lambda: all(one.seen == 1 for one in pages))
    await settle(lambda: all(room.game.thoughts for room in lobby.rooms.values()))
    ended = lobby.rooms[lobby.place(cem.one)]
    for room in list(lobby.rooms.values()):
        for text in WHOLE if room is ended else HALF:
            room.log("thought", {"thought": thought(room.game, text)._asdict()})
    ended._end("time")
    cem.do("rate", ratings=dict.fromkeys(ASPECTS, 4), comment="")  # and sees what comes to light
    wanted = {"world": "overcooked", "level": LEVEL, "facilitator": "none", "seed": 1}
    lobby.event_log.append("episode:hostile", "wanted", wanted)[1].result(10)
    links = [f"/p/{one.one.token}" for one in pages]
    (first, *_) = asked.people.values()
    return Links(f"/p/{first.token}", links[0], links[2], links[3], f"/studies/{study.id}", asked.id)


def thought(game: LiveGame, text: str) -> FacilitatorThought:
    """What a facilitator would think that is as hostile as that."""
    prices = [{"message": one, "saves": 1.0, "changes": 0.5} for one in WHOLE]
    beliefs = {"Ana": {"posterior": dict.fromkeys(WHOLE, 0.5)}}
    row = {
        "action": f"Ana: {text}",
        "words": f"{text} ",
        "why": text,
        "ms": 1.0,
        "prices": prices[: 300 * (text == WHOLE[-1])],
    }
    return FacilitatorThought(game.t, row, beliefs if text == WHOLE[-1] else {}, "Ana", 1.0, [0, 0])


# A browser that notices everything


class Watched:
    """A page of the browser, and whatever came of it that should not."""

    def __init__(self, context: Any, server: Server) -> None:
        self.page, self.server = context.new_page(), server
        self.begin()
        self.page.on("dialog", self._asked_back)
        self.page.on("console", self._told)
        self.page.on("pageerror", lambda error: self.wrong.append(f"error {error}"))
        self.page.on("request", self._asked)

    def begin(self) -> None:
        """Nothing has gone wrong, and nothing is expected to."""
        self.wrong: list[str] = []
        self.expected = "$"
        address = self.server.address
        self.own: tuple[str, ...] = (f"{address}/", f"ws{address[4:]}/", "data:", "about:", "blob:")

    def _asked_back(self, dialog: Any) -> None:
        self.wrong.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _told(self, said: Any) -> None:
        text = f"{said.type}: {said.text}"
        if not re.match(rf"{self.expected}|verbose: \[DOM\]", text):  # the browser's own advice on forms
            self.wrong.append(text)

    def _asked(self, request: Any) -> None:
        if not request.url.startswith(self.own):
            self.wrong.append(f"asked for {request.url}")

    def open(self, path: str, ready: str) -> Any:
        """Open a page of the server and wait for something in it."""
        self.page.goto(self.server.address + path)
        self.page.wait_for_selector(ready, state="attached", timeout=30_000)
        return self.page

    def text(self) -> str:
        """All text of the page, and what has been filled in, as it may be seen."""
        found: str = self.page.evaluate(TEXT)
        return shown(found.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))

    def missing(self, texts: tuple[str, ...] = WHOLE, change: Callable[[str], str] = str) -> list[str]:
        """Which texts cannot be read."""
        there = change(self.text())
        return [text for text in texts if change(shown(text)) not in there]


@pytest.fixture(scope="module")
def watched(lived: tuple[Path, Links], levels: list[Path]) -> Iterator[Watched]:
    options = [part for path in levels for part in ("--level", str(path))]
    with serving(lived[0], *options) as server, browsing() as browser:
        context = browser.new_context()
        context.add_init_script(LISTEN)
        name, _, value = server.cookie.partition("=")
        context.add_cookies([{"name": name, "value": value, "url": server.address}])
        yield Watched(context, server)


@pytest.fixture
def seen(watched: Watched) -> Iterator[Watched]:
    """A page, which has to have stayed quiet in the end."""
    watched.begin()
    yield watched
    watched.page.wait_for_timeout(50)
    pwned = watched.page.evaluate("[window, ...Array.from(frames)].some((one) => one.pwned)")
    watched.page.goto("about:blank")
    assert pwned is False
    assert sorted(set(watched.wrong)) == []


@pytest.fixture
def links(lived: tuple[Path, Links]) -> Links:
    return lived[1]


def spelt(text: str) -> str:
    """As pages write names."""
    return " ".join(re.sub("[-_]", " ", text).casefold().split())


# What researchers see


def test_the_list_of_studies_and_levels(seen: Watched) -> None:
    seen.open("/studies", "[data-list] td")
    seen.page.wait_for_selector("input[name=levels]", state="attached")
    assert seen.missing() == []
    assert seen.missing(LINES, spelt) == []
    values = seen.page.eval_on_selector_all("input[name=levels]", "all => all.map((one) => one.value)")
    assert {text.strip() for text in LINES} <= set(values)


def test_the_dashboard_with_labels(seen: Watched, links: Links) -> None:
    seen.open(f"/studies/{links.labels}", "[data-links] td")
    labels = seen.page.eval_on_selector_all("[data-links] td:first-child", "all => all.map((one) => one.textContent)")
    there = shown(" ".join(labels))
    assert [text for text in WHOLE if shown(text[:100]) not in there] == []
    assert seen.missing() == []  # in the consent
    assert shown(together(" ", 200)[0]) in shown(seen.page.title())


def test_a_room_as_researchers_see_it(seen: Watched, links: Links) -> None:
    seen.open(links.study, "[data-pairs] button")
    seen.page.click("[data-pairs] button")
    seen.page.wait_for_selector(".room .prices td", state="attached")
    for place, told in ((".room .mind", WHOLE), (".prices", WHOLE), ("[data-room] > :last-child", HALF)):
        there = shown(seen.page.text_content(place))
        assert [text for text in told if shown(text) not in there] == []


# What participants see


def test_the_consent(seen: Watched, links: Links) -> None:
    seen.open(links.consent, "main h1")
    assert seen.missing() == []


def test_a_game_in_which_hostile_things_are_said(seen: Watched, links: Links) -> None:
    seen.open(links.game, ".advice .text")
    for _ in range(100):  # one message after the other arrives
        if shown(WHOLE[-1]).casefold() in shown(seen.page.inner_text(".advice")).casefold():
            break
        seen.page.wait_for_timeout(100)
    assert shown(WHOLE[-1]).casefold() in shown(seen.page.inner_text(".advice")).casefold()
    assert spelt(shown(LEVEL)) not in spelt(seen.text()), "it could tell the condition"
    for _ in range(3):
        seen.page.keyboard.press("g")
    assert seen.page.locator(".advice-card").count() == 2


def test_what_was_said_is_revealed(seen: Watched, links: Links) -> None:
    seen.open(links.reveal, "main td")
    assert seen.missing() == []


def test_a_comment(seen: Watched, links: Links) -> None:
    seen.open(links.questions, "textarea")
    for group in seen.page.query_selector_all("fieldset"):
        group.query_selector("input").check(force=True)
    comment = together(" ", 1900)[0]
    seen.page.fill("textarea", comment)
    seen.page.reload()
    seen.page.wait_for_selector("textarea")
    assert shown(seen.page.input_value("textarea")) == shown(comment)
    seen.page.click("button.primary")
    seen.page.wait_for_selector('body[data-stage="reveal"]')


def test_addresses_to_hand_off_to(seen: Watched, links: Links) -> None:
    """What the server would refuse is no link on the page either."""
    seen.open("/", "main")
    addresses = seen.page.evaluate(
        """async (texts) => {
          const { thanks } = await import("/pages/stages.js");
          return texts.flatMap((text) => {
            const { element } = thanks({ text, code: text, url: text });
            document.body.append(element);
            return [...element.querySelectorAll("a")].map((link) => link.protocol);
          });
        }""",
        [*WHOLE],
    )
    assert len(addresses) > 4
    assert set(addresses) <= {"https:", "http:", ":"}  # the last one is of an address that leads nowhere
    assert seen.missing() == []


def test_instructions_and_questionnaires(seen: Watched) -> None:
    seen.open("/", "main")
    links = seen.page.evaluate(
        """async (texts) => {
          const { form } = await import("/pages/form.js");
          const { instructions } = await import("/pages/stages.js");
          const questions = (text) => [
            { key: "a", kind: "scale", text, low: 1, high: 3, labels: [text, text, text] },
            { key: "b", kind: "choice", text, options: [text, "b"] },
            { key: "c", kind: "number", text, min: 0, max: 1 },
            { key: "d", kind: "text", text, max: 9 },
          ];
          const heading = (text) => ({ kind: "heading", level: 2, spans: [{ text }] });
          const blocks = (text) => [
            heading(text),
            { kind: "paragraph", spans: [{ text, bold: true, url: text }, { text, italic: true, url: "https://a.b" }] },
            { kind: "list", ordered: true, items: [[{ text }]] },
          ];
          for (const text of texts) {
            document.body.append(instructions({ title: text, blocks: blocks(text) }, { token: "t" }).element);
            document.body.append(form({ form: "f", title: text, questions: questions(text) }, { token: text }).element);
          }
          return [...document.querySelectorAll(".blocks a")].map((link) => [link.protocol, link.rel]);
        }""",
        [*WHOLE],
    )
    assert {protocol for protocol, _ in links} <= {"https:", "http:", ":"}
    assert {rel for _, rel in links} == {"noreferrer"}
    assert seen.missing() == []


def test_texts_become_no_elements(seen: Watched) -> None:
    """All that pages are built with, given hostile texts for everything that it takes."""
    seen.open("/", "main")
    seen.page.evaluate(
        """async (texts) => {
          const { goalIcon, look, make, table } = await import("/pages/dom.js");
          const { attempt } = await import("/pages/server.js");
          const problem = make("p");
          document.querySelector("main").replaceChildren(problem);
          for (const text of texts) {
            await attempt(problem, async () => { throw new Error(text); });
            const goal = goalIcon({ name: text, label: text, colour: text, ink: text, icon: text });
            const cells = table([text], [[[text, text]]], { caption: text });
            const plain = make("p", { class: text, title: text }, text);
            problem.after(problem.textContent, goal, look("", 48, text), cells, plain);
          }
        }""",
        [*PAYLOADS],
    )
    made = {"p", "svg", "g", "circle", "text", "div", "table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert set(seen.page.eval_on_selector_all("main *", "all => all.map((one) => one.localName)")) == made
    assert seen.missing() == []


def test_drawings_are_stripped_of_all_but_shapes(seen: Watched) -> None:
    """Markup that the server would never send: the browser's policy notices it, but it is not there any more."""
    seen.expected = "error: (violation|.* Content Security Policy)"
    seen.open("/", "main")
    names = seen.page.evaluate(
        """async (texts) => {
          const { drawing } = await import("/pages/dom.js");
          const main = document.querySelector("main");
          main.replaceChildren(...texts.map(drawing));
          return [...main.querySelectorAll("*")].flatMap((one) => [one.localName, ...one.getAttributeNames()]);
        }""",
        [*PAYLOADS, *(f"<g>{text}</g>" for text in WHOLE)],
    )
    assert set(names) == {"g", "rect", "text", "width", "height"}


# Pages for everybody


def test_levels_to_play(seen: Watched) -> None:
    seen.open("/play", "select[name=level] option")
    assert seen.missing(LINES, spelt) == []
    seen.page.select_option("select[name=level]", LEVEL)
    assert seen.page.input_value("select[name=level]") == LEVEL


def test_an_episode_that_cannot_be_played(seen: Watched) -> None:
    seen.open("/watch/hostile", "[data-at=problem]:not([hidden])")
    assert LEVEL in seen.text()


@pytest.mark.parametrize(
    ("path", "ready"),
    [
        ("/p/{}", "[data-link]:not([hidden])"),
        ("/studies/{}", "[data-problem]:not([hidden])"),
        ("/watch/{}", "[data-at=problem]:not([hidden])"),
        ("/enter?to={}", "form"),
        ("/enter?to=/studies#{}", "[data-problem]:not([hidden])"),
    ],
)
def test_hostile_addresses(path: str, ready: str, seen: Watched) -> None:
    seen.expected = "error: (Failed to load resource|WebSocket)"
    for text in ("%3Cimg%20src=x%20onerror=alert(1)%3E", "javascript:alert(1)%00"):
        seen.open(path.format(text), ready)
        seen.page.goto("about:blank")


def test_the_key_leads_only_to_studies(seen: Watched) -> None:
    for text in (
        *ELEMENTS[:1],
        "javascript:alert(1)",
        "//evil.example",
        "/studies/../p/x",
        "https://evil.example/studies",
    ):
        seen.page.goto(f"{seen.server.address}/enter?to={text}#a secret that tests know")
        seen.page.wait_for_url(f"{seen.server.address}/studies")
        seen.page.wait_for_selector("[data-list]", state="attached")


# Pages that need nothing else


@pytest.fixture(scope="module")
def report() -> str:
    rows = hostile_export()
    return study_report.report(rows, study_scores.summarise(rows))


def test_the_report_on_a_study(seen: Watched, report: str, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(report, "utf-8")
    seen.own = (*seen.own, (tmp_path / "report.html").as_uri())
    seen.page.goto((tmp_path / "report.html").as_uri())
    assert seen.missing() == []
    seen.page.wait_for_selector("[data-at=scrubber]", state="attached")
    told = seen.page.evaluate(
        """(steps) => {
          const at = (name) => document.querySelector(`[data-at=${name}]`);
          const told = [];
          for (let t = 0; t < steps; t += 5) {
            at("scrubber").value = String(t);
            at("scrubber").dispatchEvent(new Event("input"));
            told.push(...[...document.querySelectorAll("[data-at]:not(script)")].map((one) => one.textContent));
          }
          return told;
        }""",
        len(WHOLE),
    )
    there = shown(" ".join(told))
    there_to_see = (*WHOLE[::10], *WHOLE[2 : len(WHOLE) // 2 : 5])
    assert [text for text in there_to_see if shown(text) not in there] == []
